"""The flag that says what models cost, and how it is read."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mlagentbench.evaluation.pricing import Price

prices_option = click.option(
    "--prices",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="MLAB_PRICES",
    help="A TOML file with a table for each model: input, output, cached_read and"
    " cached_write, in dollars per million tokens.",
)


def read_price_option(path: Path | None) -> "dict[str, Price] | None":
    """Read `--prices`, where it was given."""
    if path is None:
        return None
    from mlagentbench.run.prices import read_prices

    return read_prices(path)
