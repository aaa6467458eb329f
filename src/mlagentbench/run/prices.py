"""Prices of models, as a person writes them down: dollars per million tokens.

["openai/gpt-4o"]
input = 2.5
output = 10
cached_read = 1.25
"""

import tomllib
from pathlib import Path
from typing import Any

from inspect_ai.model import get_model_info
from pydantic import ValidationError

from mlagentbench.core.errors import UsageError
from mlagentbench.evaluation.pricing import Price, bills_nobody, price_of
from mlagentbench.run.plan import NO_MODEL, Plan


def read_prices(path: Path) -> dict[str, Price]:
    """Read a table of prices; whatever is wrong with it is said by model and field."""
    return {name: _price(path, name, one) for name, one in _tables(path).items()}


def refuse_unpriced(plan: Plan) -> None:
    """Refuse a limit in dollars where nobody knows what a model costs."""
    if plan.budget.cost_usd is None:
        return
    models = dict.fromkeys([plan.model, *plan.roles.values()])
    unknown = [model for model in models if not _has_price(model, plan.prices)]
    if unknown:
        raise UsageError(
            f"--max-cost needs a price for {', '.join(unknown)}: write it into a file"
            ' as ["' + unknown[0] + '"] with input and output, in dollars per million'
            " tokens, and give --prices FILE"
        )


def _has_price(model: str, prices: dict[str, Price]) -> bool:
    if model == NO_MODEL or bills_nobody(model) or price_of(model, prices):
        return True
    known = get_model_info(model)
    return known is not None and known.cost is not None


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is no sound TOML: {error}") from error


def _price(path: Path, name: str, table: object) -> Price:
    try:
        return Price.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([name, *map(str, first["loc"])])
        raise UsageError(
            f"{path}: {where}: {first['msg']}; a price has input and output, and may"
            " have cached_read and cached_write"
        ) from error
