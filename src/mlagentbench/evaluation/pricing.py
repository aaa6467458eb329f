"""What tokens cost: a price for each model, and none made up where none is known."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.core.trace import ModelCall

BILL_NOBODY = frozenset({"local", "scripted", "replay"})
"""Providers of this package: they answer on this machine and send nothing anywhere."""

_MILLION = 1_000_000

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Record):
    """Of one model, in dollars per million tokens."""

    input: Dollars
    output: Dollars
    """What a model thinks before it answers is output too."""
    cached_read: Dollars | None = None
    """Input that the provider still had; as other input where none is given."""
    cached_write: Dollars | None = None
    """Input that the provider was to remember; likewise."""


class Cost(Record):
    """What was paid, and for whom that is not known."""

    usd: float = 0.0
    unpriced: tuple[str, ...] = ()
    """Models that were asked and whose price nobody told; they add nothing above."""


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Find a model's price by its whole name, or by what follows its provider's."""
    name = model
    while name not in prices:
        _, slash, name = name.partition("/")
        if not slash:
            return None
    return prices[name]


def bills_nobody(model: str) -> bool:
    """Tell whether asking a model costs nothing by its nature."""
    return model.partition("/")[0] in BILL_NOBODY


def cost_of(usage: Mapping[str, int], price: Price) -> float:
    """Price the tokens of one reply."""
    read = price.input if price.cached_read is None else price.cached_read
    write = price.input if price.cached_write is None else price.cached_write
    dollars = (
        usage.get("input", 0) * price.input
        + usage.get("output", 0) * price.output
        + usage.get("cached", 0) * read
        + usage.get("cached_write", 0) * write
    )
    return dollars / _MILLION


def call_cost(call: ModelCall, prices: Mapping[str, Price]) -> float | None:
    """Price one reply: by the table, else as it was recorded; None where unknown."""
    price = price_of(call.model, prices)
    if price is not None and call.usage:
        return cost_of(call.usage, price)
    if call.cost is None and bills_nobody(call.model):
        return 0.0
    return call.cost


def priced(
    recorded: float, calls: Iterable[ModelCall], prices: Mapping[str, Price]
) -> Cost:
    """Correct a recorded sum by what the table says of the calls in it."""
    usd, unpriced = recorded, set()
    for call in calls:
        cost = call_cost(call, prices)
        if cost is None:
            unpriced.add(call.model)
        else:
            usd += cost - (call.cost or 0.0)
    return Cost(usd=round(usd, 9), unpriced=tuple(sorted(unpriced)))
