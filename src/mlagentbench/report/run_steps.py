"""Its plan, executions and steps."""

import json
import math
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from mlagentbench.core.actions import executes
from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.text import first_lines
from mlagentbench.core.trace import Step, Trace
from mlagentbench.report.code_changes import Edit, edits
from mlagentbench.report.data import code_changes
from mlagentbench.report.number_format import (
    Portion,
    duration,
    fitted,
    fitted_end,
    portion,
    with_unit,
)

PLENTY = 200_000
_FRAME = 210
"""A step's markup, in bytes."""


class Fact(Record):
    """One thing said about a run, with its label."""

    label: str
    text: str


class StepRow(Record):
    """One step of a run."""

    number: int
    action: str
    failed: str | None
    said: tuple[Fact, ...]
    """What the agent wrote beside its action."""
    input: tuple[Fact, ...]
    observation: str
    validation: str
    seconds: str


def step_rows(
    trace: Trace, unit: str = "", *, room: int = PLENTY, telling: Collection[int] = ()
) -> tuple[StepRow, ...]:
    """Write a run's steps; where not all have room, those that tell the most."""
    share = portion(room, len(trace.steps), frame=_FRAME, least=60, most=6_000)
    chosen = _most_telling(trace.steps, share.items, telling)
    written = edits(trace)
    return tuple(
        _step_row(trace.steps[place], unit, share, written.get(place))
        for place in chosen
    )


def failure(step: Step) -> str | None:
    """Say what kind of failure a step was; None where it was done."""
    if step.ok:
        return None
    kind = (step.error or "failed").replace("_", " ")
    return fitted(kind, 80, lines=1)


def _most_telling(
    steps: tuple[Step, ...], count: int, telling: Collection[int]
) -> Sequence[int]:
    """Choose what findings name, the end, failures, measurements, in this order."""
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


def _step_row(step: Step, unit: str, share: Portion, edit: Edit | None) -> StepRow:
    measured = step.validation
    spent = step.seconds
    observed = fitted if step.ok else fitted_end
    return StepRow(
        number=step.step,
        action=fitted(step.action, 80, lines=1),
        failed=failure(step),
        said=_short_facts(step.fields, share.of(0.3)),
        input=_short_facts(_given(step, edit), share.of(0.3)),
        observation=observed(step.told, share.of(0.4), lines=20),
        validation=with_unit(measured.value, unit) if measured else "",
        seconds=duration(spent.model + spent.execute + spent.harness),
    )


def _given(step: Step, edit: Edit | None) -> dict[str, Any]:
    """Return what a step was given; of a text that is known, only what is new."""
    change = edit.change() if edit else None
    if change is None:
        return step.input
    return step.input | {"content": "\n".join(change.lines) or "as before"}


def _short_facts(values: dict[str, Any], room: int) -> tuple[Fact, ...]:
    if not values:
        return ()
    share = portion(room, len(values), frame=40, least=20, most=1_500)
    return tuple(
        Fact(
            label=fitted(key, 60, lines=1),
            text=fitted(_written(value), share.each, lines=12),
        )
        for key, value in list(values.items())[: min(share.items, 8)]
    )


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


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


_EXPERIMENT_FRAME = 130
"""A row's markup, in bytes."""
_EDITS_TOLD = 6


class ExperimentRow(Record):
    """One execution."""

    number: int
    ran: str
    changed: str
    """What was changed since the last execution."""
    validation: str
    best: bool
    """Whether nothing measured in this run is better."""
    seconds: str
    failed: str | None


class Experiments(Record):
    """The executions of one run that there is room for."""

    rows: tuple[ExperimentRow, ...] = ()
    total: int = 0


def experiments(
    trace: Trace, unit: str, direction: Direction, *, room: int
) -> Experiments:
    """Write a run's executions; where not all have room, the best and the first."""
    found = list(_executions(trace))
    share = portion(room, len(found), frame=_EXPERIMENT_FRAME, least=40, most=600)
    best = _best([step for step, _ in found], direction)
    ranked = sorted(range(len(found)), key=lambda place: found[place][0].step != best)
    chosen = [found[place] for place in sorted(ranked[: share.items])]
    rows = tuple(
        ExperimentRow(
            number=step.step,
            ran=fitted(_ran(step), share.of(0.3), lines=1),
            changed=fitted(_changed(since), share.of(0.7), lines=4),
            validation=_validation(step, unit),
            best=step.step == best,
            seconds=duration(step.seconds.execute),
            failed=failure(step),
        )
        for step, since in chosen
    )
    return Experiments(rows=rows, total=len(found))


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


def _changed(since: list[Edit]) -> str:
    return "; ".join(edit.told() for edit in since[:_EDITS_TOLD]) or "nothing"


def _best(steps: list[Step], direction: Direction) -> int | None:
    measured = [
        (direction.sign * step.validation.value, -step.step)
        for step in steps
        if step.validation and math.isfinite(step.validation.value)
    ]
    return -max(measured)[1] if measured else None


def _ran(step: Step) -> str:
    given = next((text for text in step.input.values() if isinstance(text, str)), "")
    return first_lines(given or step.action, lines=1, characters=200)


def _validation(step: Step, unit: str) -> str:
    return with_unit(step.validation.value, unit) if step.validation else ""
