"""Tokens, time and cost of a run; prices of models."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from mlagentbench.core import ModelCall, Record, RunSeconds, Trace, provider_info

KINDS = ("input", "output", "cached")
"""Kinds of tokens of every run; cached ones are not part of the input."""


def run_seconds(trace: Trace) -> RunSeconds:
    """Add up where a run's time went."""
    found = {
        kind: sum(getattr(step.seconds, kind) for step in trace.steps)
        for kind in ("model", "execute", "harness")
    }
    total = trace.end.seconds if trace.end else sum(found.values())
    rounded = {kind: round(seconds, 3) for kind, seconds in found.items()}
    return RunSeconds(total=round(total, 3), **rounded)


def cpu_seconds(trace: Trace) -> float | None:
    """Add up the CPU seconds of a run's sandbox; None if no step recorded any."""
    known = [step.seconds.cpu for step in trace.steps if step.seconds.cpu is not None]
    return round(sum(known), 3) if known else None


def all_calls(trace: Trace) -> list[ModelCall]:
    """Return every reply that was paid for, those that led to no step included."""
    return [call for step in trace.steps for call in step.calls] + [*trace.calls]


def tokens(trace: Trace) -> dict[str, Any]:
    """Count tokens by kind, and the same by model role."""
    total: Counter[str] = Counter()
    roles: dict[str, Counter[str]] = {}
    for call in all_calls(trace):
        total.update(call.usage)
        roles.setdefault(call.role, Counter()).update(call.usage)
    counted = dict.fromkeys(KINDS, 0) | dict(total)
    return counted | {role: dict(count) for role, count in roles.items()}


Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Record):
    """Price of one model in dollars per million tokens."""

    input: Dollars
    output: Dollars
    """Reasoning tokens are output too."""
    cached_read: Dollars | None = None
    """Input read from the provider's cache; None for the price of other input."""
    cached_write: Dollars | None = None
    """Input written to the provider's cache; None for the price of other input."""


class Cost(Record):
    """Cost of a run, and the models without a price."""

    usd: float = 0.0
    unpriced: tuple[str, ...] = ()
    """Models that were called and have no price; they add nothing above."""


def run_cost(trace: Trace, prices: Mapping[str, Price]) -> Cost:
    """Return the cost of a run, with the models that have no price."""
    last = trace.end or (trace.steps[-1] if trace.steps else None)
    spent = last.spent.cost if last else 0.0
    # `spent` changes only with steps, and these calls led to none.
    unstepped = sum(call.cost or 0.0 for call in trace.calls)
    return priced(spent + unstepped, all_calls(trace), prices)


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Find the price of a model by its full name, or by the part after its provider."""
    name = model
    while name not in prices:
        _, slash, name = name.partition("/")
        if not slash:
            return None
    return prices[name]


def is_free(model: str) -> bool:
    """Tell whether asking a model costs nothing by its nature."""
    return provider_info(model).free


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
    return dollars / 1_000_000


def call_cost(call: ModelCall, prices: Mapping[str, Price]) -> float | None:
    """Return the cost of a reply: by the table, else as recorded; None if unknown."""
    price = price_of(call.model, prices)
    if price is not None and call.usage:
        return cost_of(call.usage, price)
    if call.cost is None and is_free(call.model):
        return 0.0
    return call.cost


def priced(
    recorded: float, calls: Iterable[ModelCall], prices: Mapping[str, Price]
) -> Cost:
    """Correct a recorded sum by the prices of its calls."""
    usd, unpriced = recorded, set()
    for call in calls:
        cost = call_cost(call, prices)
        if cost is None:
            unpriced.add(call.model)
        else:
            usd += cost - (call.cost or 0.0)
    return Cost(usd=round(usd, 9), unpriced=tuple(sorted(unpriced)))
