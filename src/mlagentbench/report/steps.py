"""A run's steps as the page writes them, each cut to what there is room for."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from mlagentbench.core.record import Record
from mlagentbench.core.trace import Step, Trace
from mlagentbench.report.budgeting import Portion, fitted, fitted_end, portion
from mlagentbench.report.edits import Edit, edits
from mlagentbench.report.numbers import duration, with_unit

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
