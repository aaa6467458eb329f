"""`mlab compare`: which of two sides is better, and how sure that is."""

import json
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.arguments import json_option
from mlagentbench.cli.console import err, print_json, print_table

if TYPE_CHECKING:
    from mlagentbench.evaluation.statistics.compare import Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="A B...")
@json_option
def command(*, sides: tuple[str, ...], as_json: bool) -> None:
    """Compare two sides over the same tasks; of more, compare every pair.

    A side is EXP or EXP:NAME, NAME an agent or a model in it.
    """
    from mlagentbench.cli.sides import read_sides
    from mlagentbench.core.errors import UsageError
    from mlagentbench.evaluation.statistics.compare import compare_all

    if len(sides) < 2:
        raise UsageError(
            "name two sides to compare: mlab compare EXP[:NAME] EXP[:NAME]"
        )
    if len(set(sides)) < len(sides):
        raise UsageError("a side cannot be compared with itself; name each side once")
    read, warnings = read_sides(sides)
    for warning in warnings:
        err().print(warning, markup=False)
    found = compare_all(read)
    if as_json:
        print_json({"pairs": [_document(pair) for pair in found]})
        return
    for pair in found:
        _print(pair)


def _document(pair: "Comparison") -> dict[str, object]:
    from mlagentbench.report.comparing import written

    # Through text, because an interval without bounds is null in JSON.
    facts = json.loads(pair.model_dump_json())
    return {**facts, "in_words": written(pair).model_dump()}


def _print(pair: "Comparison") -> None:
    from mlagentbench.report.comparing import COLUMNS, task_rows, written

    said = written(pair)
    click.echo(f"A: {pair.a.name}\nB: {pair.b.name}\n")
    print_table(COLUMNS, task_rows(pair))
    click.echo()
    for line in said.measures:
        click.echo(line)
    click.echo(f"\n{said.verdict}")
    if said.detectable:
        click.echo(said.detectable)
    if said.remarks:
        click.echo("\n".join(["\nnotes:", *(f"  {line}" for line in said.remarks)]))
