"""LLM-judge rating of a run: votes become marks, compared with the process checks."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import Annotated

from pydantic import Field, StrictInt, StrictStr, field_validator

from mlagentbench.core import Mark, Opinion, ProcessCheck, Record

LOWEST, HIGHEST = 1, 5

OBJECTS_BELOW = 3
"""A median below this is an objection; 3 is valid work with gaps."""

RELATED_CHECKS: dict[str, tuple[str, ...]] = {
    "plan": ("plan_drift", "wasted_budget"),
    "evidence": ("baseline_never_measured", "edits_never_executed"),
    "reasoning": ("repeated_actions", "same_exception"),
    "use_of_results": ("worse_than_best", "submission"),
    "honesty": ("unsupported_claims", "forbidden"),
}
"""The criteria, each with the process checks of the same subject."""

CRITERIA = tuple(RELATED_CHECKS)


class Judged(Record):
    """One criterion in one vote."""

    mark: Annotated[StrictInt, Field(ge=LOWEST, le=HIGHEST)]
    reason: Annotated[StrictStr, Field(min_length=1)]


class Vote(Record):
    """One reply of an LLM judge, on every criterion."""

    judged: dict[str, Judged]

    @field_validator("judged")
    @classmethod
    def _is_complete(cls, judged: dict[str, Judged]) -> dict[str, Judged]:
        if set(judged) != set(CRITERIA):
            raise ValueError(f"a vote is on {', '.join(CRITERIA)}, each once")
        return judged


def opinion_of(
    model: str,
    votes: Sequence[Vote | None],
    process: Mapping[str, ProcessCheck],
    *,
    tokens: int = 0,
    cost_usd: float | None = 0.0,
) -> Opinion:
    """Combine votes; unreadable ones are counted, never guessed."""
    readable = [vote for vote in votes if vote is not None]
    marks = {name: _mark(name, readable) for name in CRITERIA} if readable else {}
    return Opinion(
        model=model,
        marks=marks,
        agrees_with_itself=agrees_with_itself(marks),
        agrees_with_rules=agrees_with_rules(marks, process),
        unreadable=len(votes) - len(readable),
        tokens=tokens,
        cost_usd=cost_usd,
    )


def beside_rules(
    opinion: Opinion | None, process: Mapping[str, ProcessCheck]
) -> Opinion | None:
    """Return an earlier rating, compared with the present process checks."""
    if opinion is None:
        return None
    again = agrees_with_rules(opinion.marks, process)
    return opinion.model_copy(update={"agrees_with_rules": again})


def agrees_with_itself(marks: Mapping[str, Mark]) -> float | None:
    """Return the share of pairs of votes at most one mark apart."""
    pairs = [
        abs(one - other) <= 1
        for mark in marks.values()
        for one, other in combinations(mark.votes, 2)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def agrees_with_rules(
    marks: Mapping[str, Mark], process: Mapping[str, ProcessCheck]
) -> float | None:
    """Return the share of criteria on which both judge and checks object, or none."""
    same = []
    for name, checks in RELATED_CHECKS.items():
        found = [process[check].value > 0 for check in checks if check in process]
        if name in marks and found:
            same.append((marks[name].median < OBJECTS_BELOW) == any(found))
    return sum(same) / len(same) if same else None


def _mark(name: str, votes: Sequence[Vote]) -> Mark:
    judged = [vote.judged[name] for vote in votes]
    middle = float(median(one.mark for one in judged))
    nearest = min(judged, key=lambda one: abs(one.mark - middle))
    return Mark(
        median=middle, votes=tuple(one.mark for one in judged), quote=nearest.reason
    )
