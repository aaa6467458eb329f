"""Checks, findings, failure modes, judges."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import (
    FailureMode,
    Finding,
    Opinion,
    ProcessCheck,
    Scorecard,
)
from mlagentbench.evaluation.statistics.intervals import Estimate, wilson
from mlagentbench.report.averages import Column
from mlagentbench.report.number_format import dollars, fitted, number, portion, share


class CheckRow(Record):
    """One check, and for each agent how many of its examined runs it found."""

    name: str
    shares: tuple[Estimate | None, ...]
    """One a column; None where no run was examined."""


def check_rows(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[CheckRow, ...]:
    """Count findings of every check that anybody made."""
    counted = [card for card in cards if card.ending.counts]
    names = dict.fromkeys(name for card in counted for name in card.process)
    return tuple(
        CheckRow(
            name=name.replace("_", " "),
            shares=tuple(_share(name, column, counted) for column in present),
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


_FRAME = 170
_NAMED_AT_MOST = 12


class EvidenceRow(Record):
    """One thing seen, where, and in which words."""

    steps: tuple[int, ...]
    more_steps: int
    quote: str
    why: str


class FindingRow(Record):
    """What one check found."""

    check: str
    times: int
    evidence: tuple[EvidenceRow, ...]


class MarkRow(Record):
    """A judge's mark for one criterion."""

    criterion: str
    median: str
    votes: str
    quote: str


class OpinionRow(Record):
    """What a judge thinks of a run; changes no score."""

    model: str
    marks: tuple[MarkRow, ...]
    agreement: str


def finding_rows(card: Scorecard, *, room: int) -> tuple[FindingRow, ...]:
    """Write what was found, the most frequent first."""
    found = [(name, check) for name, check in card.process.items() if check.value]
    found.sort(key=lambda one: -one[1].value)
    count = sum(len(check.evidence) for _, check in found)
    share_each = portion(room, count, frame=_FRAME, least=60, most=1_000)
    return tuple(
        FindingRow(
            check=fitted(name.replace("_", " "), 80, lines=1),
            times=check.value,
            evidence=_evidence(check, left, share_each.each),
        )
        for (name, check), left in zip(
            found, _dealt([check for _, check in found], share_each.items), strict=True
        )
    )


def named_steps(card: Scorecard) -> frozenset[int]:
    """Return every step that a finding names."""
    return frozenset(
        step
        for check in card.process.values()
        for finding in check.evidence
        for step in finding.steps[:_NAMED_AT_MOST]
    )


def opinion_row(opinion: Opinion | None, *, room: int) -> OpinionRow | None:
    """Write a judge's opinion; None where nobody was asked."""
    if opinion is None:
        return None
    each = portion(room, len(opinion.marks), frame=_FRAME, least=40, most=600)
    marks = tuple(
        MarkRow(
            criterion=fitted(name.replace("_", " "), 80, lines=1),
            median=number(mark.median, digits=2),
            votes=", ".join(map(str, mark.votes[:9])),
            quote=fitted(mark.quote, each.each, lines=4),
        )
        for name, mark in list(opinion.marks.items())[: each.items]
    )
    return OpinionRow(
        model=fitted(opinion.model, 120, lines=1),
        marks=marks,
        agreement=". ".join(_agreement(opinion)),
    )


def _dealt(checks: list[ProcessCheck], count: int) -> list[int]:
    """Deal the room for evidence: one for each check, then what is left in turn."""
    dealt = [0] * len(checks)
    while count:
        open_ones = [
            place
            for place, check in enumerate(checks)
            if dealt[place] < len(check.evidence)
        ]
        if not open_ones:
            break
        for place in open_ones[:count]:
            dealt[place] += 1
        count -= min(count, len(open_ones))
    return dealt


def _evidence(check: ProcessCheck, count: int, room: int) -> tuple[EvidenceRow, ...]:
    return tuple(_evidence_row(one, room) for one in check.evidence[:count])


def _evidence_row(finding: Finding, room: int) -> EvidenceRow:
    return EvidenceRow(
        steps=finding.steps[:_NAMED_AT_MOST],
        more_steps=max(0, len(finding.steps) - _NAMED_AT_MOST),
        quote=fitted(finding.quote, room * 6 // 10, lines=8),
        why=fitted(finding.why, room * 4 // 10, lines=2),
    )


def _agreement(opinion: Opinion) -> Iterable[str]:
    if opinion.agrees_with_itself is not None:
        yield f"Its votes agree with each other in {share(opinion.agrees_with_itself)}"
    if opinion.agrees_with_rules is not None:
        yield f"It agrees with the checks in {share(opinion.agrees_with_rules)}"
    if opinion.unreadable:
        yield f"{opinion.unreadable} votes could not be read"
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
    own = [card for card in cards if card.ending.counts and column.made(card)]
    found = Counter(_outcome(card) for card in own)
    return Outcomes(
        column=column,
        runs=len(own),
        counts=tuple(found[name] for name in OUTCOMES),
    )


def any_named(cards: Iterable[Scorecard]) -> bool:
    """Tell whether anybody looked for reasons."""
    return any(card.failure for card in cards)


def _outcome(card: Scorecard) -> str:
    if card.success:
        return SUCCEEDED
    return card.failure.value if card.failure else UNNAMED
