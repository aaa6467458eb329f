"""The plan an agent wrote, and how it changed while it worked."""

from itertools import pairwise

from mlagentbench.core.record import Record
from mlagentbench.core.trace import Trace
from mlagentbench.report.budgeting import fitted
from mlagentbench.report.diffs import code_changes

_NAMED_AT_MOST = 8


class PlanRow(Record):
    """The last plan of a run."""

    text: str
    history: str
    """When it was written and changed."""


def plan_row(trace: Trace, *, room: int) -> PlanRow | None:
    """Return the last plan and its history; None where the agent wrote none."""
    versions = _versions(trace)
    if not versions:
        return None
    _, last = versions[-1]
    return PlanRow(text=fitted(last, room, lines=40), history=_history(versions))


def _versions(trace: Trace) -> list[tuple[int, str]]:
    """Return each plan that differs from the one before, with its step."""
    versions: list[tuple[int, str]] = []
    for step in trace.steps:
        written = [text for name, text in step.fields.items() if _is_plan(name)]
        text = written[0].strip() if written else ""
        if text and (not versions or versions[-1][1] != text):
            versions.append((step.step, text))
    return versions


def _is_plan(name: str) -> bool:
    return "plan" in name[:100].lower()


def _history(versions: list[tuple[int, str]]) -> str:
    first = f"Written at step {versions[0][0]}"
    changes = len(versions) - 1
    if not changes:
        return f"{first}, never changed."
    named = ", ".join(
        f"{step} ({_change(before, after)})"
        for (_, before), (step, after) in pairwise(versions[-_NAMED_AT_MOST - 1 :])
    )
    times = "once" if changes == 1 else f"{changes} times"
    which = "at step" if changes <= _NAMED_AT_MOST else "the last at step"
    return f"{first}, changed {times}: {which} {named}."


def _change(before: str, after: str) -> str:
    changes = code_changes({"plan": before}, {"plan": after})
    added = sum(change.added for change in changes)
    removed = sum(change.removed for change in changes)
    return f"+{added} -{removed} lines"
