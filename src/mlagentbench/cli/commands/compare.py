"""Mlab compare."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import err, print_json, print_table
from mlagentbench.cli.options import json_option, split
from mlagentbench.core import Scorecard, UsageError, harmless, who
from mlagentbench.experiment import Experiment, last_attempts

if TYPE_CHECKING:
    from mlagentbench.evaluation import AgentRuns, Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="A B...")
@json_option
def command(*, sides: tuple[str, ...], as_json: bool) -> None:
    """Compare two sides over the same tasks; of more, compare every pair.

    A side is EXP or EXP:NAME, NAME an agent or a model in it.
    """
    from mlagentbench.evaluation import compare_all

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
    from mlagentbench.report import written

    # Through text, because an interval without bounds is null in JSON.
    facts = json.loads(pair.model_dump_json())
    return {**facts, "in_words": written(pair).model_dump()}


def _print(pair: "Comparison") -> None:
    from mlagentbench.report import COLUMNS, task_rows, written

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


def read_sides(texts: Sequence[str]) -> "tuple[list[AgentRuns], list[str]]":
    """Return the sides, and a warning for each line that could not be read."""
    sides: list[AgentRuns] = []
    warnings: list[str] = []
    for text in texts:
        side, odd = _side(text)
        sides.append(side)
        warnings += odd
    return _told_apart(sides, texts), list(dict.fromkeys(warnings))


def _told_apart(sides: "list[AgentRuns]", texts: Sequence[str]) -> "list[AgentRuns]":
    if len({side.name for side in sides}) == len(sides):
        return sides
    return [
        side.model_copy(update={"name": f"{side.name} in {text}"})
        for side, text in zip(sides, texts, strict=True)
    ]


def _side(text: str) -> "tuple[AgentRuns, list[str]]":
    from mlagentbench.evaluation import AgentRuns

    folder, name = split(text)
    experiment = Experiment(folder)
    cards = last_attempts(experiment.scorecards)
    if not cards:
        raise UsageError(
            f"{folder} has no scorecards; `mlab score {folder}` makes them"
        )
    chosen = [card for card in cards if not name or name in _names(card)]
    if not chosen:
        raise UsageError(
            f"{folder} has no agent or model '{name}'; it has {_listed(cards)}"
        )
    acting = {who(card) for card in chosen}
    if len(acting) > 1:
        raise UsageError(
            f"{text} is several: {_listed(chosen)}; name one of them as {folder}:NAME"
        )
    side = AgentRuns(name=harmless(acting.pop()), cards=tuple(chosen))
    return side, experiment.warnings


def _names(card: Scorecard) -> tuple[str, str, str]:
    return card.agent, card.model, who(card)


def _listed(cards: Sequence[Scorecard]) -> str:
    return ", ".join(dict.fromkeys(harmless(who(card)) for card in cards))
