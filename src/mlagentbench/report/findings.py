"""Process checks, outcomes and LLM-judge ratings over runs."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mlagentbench.core import FailureMode, Opinion, Record, Scorecard
from mlagentbench.evaluation import Estimate, counted, wilson
from mlagentbench.report.averages import Column
from mlagentbench.report.number_format import dollars, share


class CheckRow(Record):
    """One check, and for each agent how many of its examined runs it found."""

    name: str
    shares: tuple[Estimate | None, ...]
    """One a column; None where no run was examined."""

    @property
    def found(self) -> bool:
        return any(share.value for share in self.shares if share)


def check_rows(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[CheckRow, ...]:
    """Count findings of every check that anybody made."""
    runs = counted(cards)
    names = dict.fromkeys(name for card in runs for name in card.process)
    return tuple(
        CheckRow(
            name=name.replace("_", " "),
            shares=tuple(_share(name, column, runs) for column in present),
        )
        for name in names
    )


def _share(name: str, column: Column, cards: Sequence[Scorecard]) -> Estimate | None:
    examined = [
        card.process[name].value > 0
        for card in cards
        if column.made(card) and name in card.process
    ]
    return wilson(sum(examined), len(examined)) if examined else None


STEPS_NAMED = 12
"""Steps that a finding names at most."""


def named_steps(card: Scorecard) -> frozenset[int]:
    """Return every step that a finding names."""
    return frozenset(
        step
        for check in card.process.values()
        for finding in check.evidence
        for step in finding.steps[:STEPS_NAMED]
    )


def agreement(opinion: Opinion) -> str:
    """Describe how far the rating of an LLM judge can be trusted."""
    return ". ".join(_agreement(opinion))


def _agreement(opinion: Opinion) -> Iterable[str]:
    if opinion.agrees_with_itself is not None:
        yield f"Its votes agree with each other in {share(opinion.agrees_with_itself)}"
    if opinion.agrees_with_rules is not None:
        yield f"It agrees with the checks in {share(opinion.agrees_with_rules)}"
    if opinion.unreadable:
        votes = "vote" if opinion.unreadable == 1 else "votes"
        yield f"{opinion.unreadable} {votes} could not be read"
    if opinion.cost_usd:
        yield f"It cost {dollars(opinion.cost_usd)}"


SUCCEEDED = "succeeded"
UNNAMED = "no reason found"
OUTCOMES = (SUCCEEDED, *(mode.value for mode in FailureMode), UNNAMED)


class Outcomes(Record):
    """One agent's counted runs, each in exactly one outcome."""

    column: Column
    runs: int
    counts: tuple[int, ...]
    """In the order of `OUTCOMES`."""


def outcomes(column: Column, cards: Iterable[Scorecard]) -> Outcomes:
    """Sort an agent's counted runs by what came of them."""
    own = [card for card in counted(cards) if column.made(card)]
    found = Counter(
        SUCCEEDED if card.success else card.failure or UNNAMED for card in own
    )
    counts = tuple(found[name] for name in OUTCOMES)
    return Outcomes(column=column, runs=len(own), counts=counts)
