"""A run's plan, executions and steps, as far as a page shows them."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from mlagentbench.core import (
    Direction,
    Measurement,
    Record,
    Step,
    Trace,
    executes,
    first_lines,
)
from mlagentbench.report.code_changes import Edit, edits
from mlagentbench.report.data import code_changes
from mlagentbench.report.number_format import fitted, fitted_end

_VALUES_SHOWN = 8


def shown_steps(
    trace: Trace, count: int, telling: Collection[int] = ()
) -> tuple[Step, ...]:
    """Return so many steps of a run, those that tell the most.

    Of a file that is written again, the input holds only the difference.
    """
    written = edits(trace)
    return tuple(
        _with_difference(trace.steps[place], written.get(place))
        for place in _most_telling(trace.steps, count, telling)
    )


def failure(step: Step) -> str | None:
    """Return the kind of a step's failure; None if it succeeded."""
    if step.ok:
        return None
    return fitted((step.error or "failed").replace("_", " "), 80, lines=1)


def _most_telling(
    steps: tuple[Step, ...], count: int, telling: Collection[int]
) -> Sequence[int]:
    """Choose steps: named by findings, the last, failures, measurements."""
    if count >= len(steps):
        return range(len(steps))

    def rank(place: int) -> tuple[bool, ...]:
        step = steps[place]
        return (
            step.step not in telling,
            place != len(steps) - 1,
            step.ok,
            step.validation is None,
        )

    ranked = sorted(range(len(steps)), key=rank)
    return sorted(ranked[:count])


def _with_difference(step: Step, edit: Edit | None) -> Step:
    change = edit.change() if edit else None
    if change is None:
        return step
    content = {"content": "\n".join(change.lines) or "as before"}
    return step.model_copy(update={"input": step.input | content})


def observation(step: Step, limit: int) -> str:
    """Return the output of a step: the first lines, or the last if it failed."""
    return (fitted if step.ok else fitted_end)(step.told, limit, lines=20)


def texts(values: Mapping[str, Any], limit: int) -> list[tuple[str, str]]:
    """Return named values as texts that fit into one limit together."""
    each = limit // max(1, min(len(values), _VALUES_SHOWN))
    return [
        (fitted(name, 60, lines=1), fitted(_written(value), each, lines=12))
        for name, value in list(values.items())[:_VALUES_SHOWN]
    ]


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


_NAMED_AT_MOST = 8


class Plan(Record):
    """The last plan of a run."""

    text: str
    history: str
    """When it was written and changed."""


def plan_of(trace: Trace) -> Plan | None:
    """Return the last plan and its history; None if the agent wrote none."""
    versions = _versions(trace)
    return Plan(text=versions[-1][1], history=_history(versions)) if versions else None


def _versions(trace: Trace) -> list[tuple[int, str]]:
    """Return each plan that differs from the one before, with its step."""
    versions: list[tuple[int, str]] = []
    for step in trace.steps:
        plans = (t for name, t in step.fields.items() if "plan" in name[:100].lower())
        text = next(plans, "").strip()
        if text and (not versions or versions[-1][1] != text):
            versions.append((step.step, text))
    return versions


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


_EDITS_NAMED = 6


class Execution(Record):
    """One execution of the agent's code."""

    step: Step
    changed: str
    """The edits since the last execution."""
    best: bool
    """Whether no measurement of this run is better."""
    tie: bool
    """Whether the best measurement is within the noise of this one, or vice versa."""


def executions(trace: Trace, direction: Direction, count: int) -> tuple[Execution, ...]:
    """Return so many executions of a run: the best and the first."""
    found = list(_executions(trace))
    best = _best([step for step, _ in found], direction)
    ranked = sorted(range(len(found)), key=lambda place: found[place][0] is not best)
    return tuple(
        Execution(
            step=step,
            changed="; ".join(edit.summary() for edit in since[:_EDITS_NAMED])
            or "nothing",
            best=step is best,
            tie=step is not best and _is_tie(step, best),
        )
        for step, since in (found[place] for place in sorted(ranked[:count]))
    )


def _executions(trace: Trace) -> Iterator[tuple[Step, list[Edit]]]:
    """Return each execution with the edits since the last."""
    written = edits(trace)
    since: list[Edit] = []
    for place, step in enumerate(trace.steps):
        if executes(step):
            yield step, since
            since = []
        elif place in written:
            since.append(written[place])


def _best(steps: list[Step], direction: Direction) -> Step | None:
    """Return the first of the steps with the best finite measurement."""
    measured = [
        (direction.sign * step.validation.value, step)
        for step in steps
        if step.validation and math.isfinite(step.validation.value)
    ]
    return max(measured, key=lambda one: one[0])[1] if measured else None


def _is_tie(step: Step, best: Step | None) -> bool:
    one, other = step.validation, best and best.validation
    if one is None or not other:
        return False
    return _is_within(one.value, other) or _is_within(other.value, one)


def _is_within(value: float, noise: Measurement) -> bool:
    low, high = noise.low, noise.high
    return low is not None and high is not None and low <= value <= high


def executed(step: Step) -> str:
    """Return the script or command that a step ran."""
    given = next((text for text in step.input.values() if isinstance(text, str)), "")
    return first_lines(given or step.action, lines=1, characters=200)
