"""Lookup of Inspect models by name, and of their prices, before any work.

A table of prices is TOML, in dollars per million tokens:

["openai/gpt-4o"]
input = 2.5
output = 10
cached_read = 1.25
"""

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.model import Model, get_model, get_model_info
from pydantic import TypeAdapter, ValidationError
from rich.errors import MarkupError
from rich.text import Text

from mlagentbench.core import BenchError, UsageError, parse_toml
from mlagentbench.evaluation import Price, is_free, price_of
from mlagentbench.experiment import NO_MODEL, ExperimentOptions, Plan
from mlagentbench.run.models.choice import check_local

_END_OF_LINE = re.compile(r"([^.:;,])\n")
_NAMES = "Use PROVIDER/NAME, for example openai/gpt-4o, or `local`"


def check_models(options: ExperimentOptions) -> None:
    """Refuse models that are unknown, or whose key or package is missing."""
    main, *others = options.models
    check_local(options.models)
    if main != NO_MODEL:
        get_checked_model(main, options.model_args)
    for other in others:
        get_checked_model(other)


def get_checked_model(name: str, args: Mapping[str, Any] | None = None) -> Model:
    """Return a model without asking it anything.

    It is refused if its provider or a setting is unknown, or a key or package missing.
    """
    try:
        return get_model(name, **(args or {}))
    except BenchError:
        raise
    except ValueError as error:
        raise UsageError(
            f"unknown model '{name}': {_message(error)} {_NAMES}"
        ) from error
    except Exception as error:
        raise UsageError(f"cannot use model {name}: {_message(error)}") from error


def _message(error: Exception) -> str:
    """Return a provider's error as a sentence; Inspect's is marked up for rich."""
    text = str(getattr(error, "message", error))
    with contextlib.suppress(MarkupError):
        text = Text.from_markup(text).plain
    lines = [line.strip() for line in text.removeprefix("ERROR: ").splitlines()]
    return _END_OF_LINE.sub(r"\1. ", "\n".join(filter(None, lines))).replace("\n", " ")


def read_prices(path: Path) -> dict[str, Price]:
    """Read a table of prices; an error names the model and the field."""
    try:
        tables = parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    try:
        return TypeAdapter(dict[str, Price]).validate_python(tables)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(
            f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}; a price has"
            " input and output, and may have cached_read and cached_write"
        ) from error


def refuse_unpriced(plan: Plan) -> None:
    """Refuse a limit in dollars if the price of a model is unknown."""
    if plan.budget.cost_usd is not None:
        require_prices(plan, "--max-cost")
    elif plan.total.cost_usd is not None:
        require_prices(plan, "--max-total-cost")


def require_prices(options: ExperimentOptions, flag: str) -> None:
    """Refuse the limit `flag` if the price of a model is unknown."""
    models = dict.fromkeys([options.model, *options.roles.values()])
    unknown = [model for model in models if not _has_price(model, options.prices)]
    if unknown:
        raise UsageError(
            f"{flag} needs a price for {', '.join(unknown)}: write it into a file"
            ' as ["' + unknown[0] + '"] with input and output, in dollars per million'
            " tokens, and pass --prices FILE"
        )


def _has_price(model: str, prices: dict[str, Price]) -> bool:
    if model == NO_MODEL or is_free(model) or price_of(model, prices):
        return True
    known = get_model_info(model)
    return known is not None and known.cost is not None
