"""`mlab compare`: agents or models on the same tasks."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import err, print_json, print_table
from mlagentbench.cli.options import json_option, split
from mlagentbench.core import Scorecard, UsageError, harmless, who

if TYPE_CHECKING:
    from mlagentbench.evaluation import AgentRuns, Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="EXP[:NAME]...")
@json_option
def command(*, sides: tuple[str, ...], as_json: bool) -> None:
    """Compare agents or models on shared tasks.

    NAME is an agent or a model of the experiment EXP. With more than two, every
    pair is compared.
    """
    from mlagentbench.evaluation import compare_all
    from mlagentbench.experiment import Experiment

    if len(sides) < 2:
        raise UsageError(
            "name two experiments to compare: mlab compare EXP[:NAME] EXP[:NAME]"
        )
    if len(set(sides)) < len(sides):
        raise UsageError("an experiment is named twice; name each only once")
    compared = [_runs_of(side) for side in sides]
    for folder in {split(side)[0]: None for side in sides}:
        for warning in Experiment(folder).warnings:
            err().print(warning, markup=False)
    if len({runs.name for runs in compared}) < len(compared):
        compared = [
            runs.model_copy(update={"name": f"{runs.name} in {side}"})
            for runs, side in zip(compared, sides, strict=True)
        ]
    found = compare_all(compared)
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

    words = written(pair)
    click.echo(f"A: {pair.a.name}\nB: {pair.b.name}\n")
    print_table(COLUMNS, task_rows(pair))
    click.echo("\n".join(["", *words.measures, "", words.verdict]))
    if words.detectable:
        click.echo(words.detectable)
    if words.remarks:
        click.echo("\n".join(["\nnotes:", *(f"  {line}" for line in words.remarks)]))


def _runs_of(text: str) -> "AgentRuns":
    from mlagentbench.evaluation import AgentRuns
    from mlagentbench.experiment import Experiment, last_attempts

    folder, name = split(text)
    cards = last_attempts(Experiment(folder).scorecards)
    if not cards:
        planned = len(Experiment(folder).runs())
        raise UsageError(
            f"{folder} has no scorecard of its {planned} runs;"
            f" run `mlab score {folder}` to write them"
        )
    chosen = [card for card in cards if name in ("", card.agent, card.model, who(card))]
    if not chosen:
        raise UsageError(
            f"{folder} has no agent or model '{name}'; choose from: {_listed(cards)}"
        )
    acting = {who(card) for card in chosen}
    if len(acting) > 1:
        raise UsageError(
            f"{text} holds several agents or models; name one as {folder}:NAME,"
            f" with NAME one of: {_listed(chosen)}"
        )
    return AgentRuns(name=harmless(acting.pop()), cards=tuple(chosen))


def _listed(cards: Sequence[Scorecard]) -> str:
    return ", ".join(dict.fromkeys(harmless(who(card)) for card in cards))
