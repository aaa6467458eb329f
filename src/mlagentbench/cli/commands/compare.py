"""`mlab compare`: agents or models on the same tasks."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import err, print_table
from mlagentbench.cli.options import json_option, open_results, split
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import (
    Names,
    Scorecard,
    UsageError,
    harmless,
    names_apart,
    stale_baselines,
    tell_apart,
    who,
)

if TYPE_CHECKING:
    from mlagentbench.evaluation import AgentRuns, Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="EXP[:NAME]...")
@json_option
def command(*, sides: tuple[str, ...], as_json: bool) -> None:
    """Compare agents or models on shared tasks.

    NAME is an agent or a model of the experiment or study EXP. With more than two,
    every pair is compared. Cells of a study without a result are listed.
    """
    from mlagentbench.evaluation import compare_all

    if len(sides) < 2:
        raise UsageError(
            "name two experiments to compare: mlab compare EXP[:NAME] EXP[:NAME]"
        )
    if len(set(sides)) < len(sides):
        raise UsageError("an experiment is named twice; name each only once")
    compared = _compared(sides)
    for folder in {split(side)[0]: None for side in sides}:
        for warning in open_results(folder).warnings:
            err().print(warning)
    for warning in stale_baselines(card for runs in compared for card in runs.cards):
        err().print(warning)
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
    from mlagentbench.report import comparison_table, written

    words = written(pair)
    say(f"A: {pair.a.name}\nB: {pair.b.name}\n")
    columns, rows = comparison_table(pair)
    optional = [name for name in columns if name.startswith("improvement")]
    print_table(columns, rows, optional=optional if pair.gap_closed else ())
    say("\n".join(["", *words.measures, "", words.verdict]))
    if words.detectable:
        say(words.detectable)
    if words.remarks:
        say("\n".join(["\nnotes:", *(f"  {line}" for line in words.remarks)]))


def _compared(sides: Sequence[str]) -> "list[AgentRuns]":
    """Read every side; agents of one name and different code get different names."""
    cards = {
        address: _scorecards(address)
        for address in dict.fromkeys(split(side)[0] for side in sides)
    }
    agents = names_apart(
        (card.agent, card.agent_digest) for found in cards.values() for card in found
    )
    return [_runs_of(side, cards[split(side)[0]], agents) for side in sides]


def _scorecards(address: str) -> list[Scorecard]:
    from mlagentbench.experiment import Experiment, last_attempts

    results = open_results(address)
    if not isinstance(results, Experiment):
        # Cells with different limits may have runs of one id.
        if found := results.scorecards:
            return found
        planned = len(results.cells)
        raise UsageError(
            f"{address} has no result of its {planned} cells;"
            f" run `mlab study {address}` to run them"
        )
    if found := last_attempts(results.scorecards):
        return found
    raise UsageError(
        f"{address} has no scorecard of its {len(results.runs())} runs;"
        f" run `mlab score {address}` to write them"
    )


def _runs_of(text: str, cards: Sequence[Scorecard], agents: Names) -> "AgentRuns":
    from mlagentbench.evaluation import AgentRuns

    folder, name = split(text)
    apart = tell_apart(cards, agents)
    chosen = [
        named
        for card, named in zip(cards, apart, strict=True)
        if name in ("", card.agent, card.model, who(card), named.agent, who(named))
    ]
    if not chosen:
        raise UsageError(
            f"{folder} has no agent or model '{name}'; choose from: {_listed(apart)}"
        )
    acting = {who(card) for card in chosen}
    if len(acting) > 1:
        raise UsageError(
            f"{text} holds several agents or models; name one as {folder}:NAME,"
            f" with NAME one of: {_listed(chosen)}"
        )
    units = open_results(folder).units
    return AgentRuns(name=harmless(acting.pop()), cards=tuple(chosen), units=units)


def _listed(cards: Sequence[Scorecard]) -> str:
    return ", ".join(dict.fromkeys(harmless(who(card)) for card in cards))
