"""A run's steps as the page writes them: each cut to its first lines."""

import json
from typing import Any

from mlagentbench.core.record import Record
from mlagentbench.core.trace import Step, Trace
from mlagentbench.report.numbers import duration, with_unit
from mlagentbench.report.plain import shortened


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


def step_rows(trace: Trace, unit: str = "") -> tuple[StepRow, ...]:
    """Write a run's steps, each cut to its first lines."""
    return tuple(_step_row(step, unit) for step in trace.steps)


def _step_row(step: Step, unit: str) -> StepRow:
    measured = step.validation
    spent = step.seconds
    return StepRow(
        number=step.step,
        action=shortened(step.action, lines=1, characters=80),
        failed=None if step.ok else shortened(_failure(step), lines=1, characters=80),
        said=_short_facts(step.fields),
        input=_short_facts(step.input),
        observation=shortened(step.told, lines=6, characters=600),
        validation=with_unit(measured.value, unit) if measured else "",
        seconds=duration(spent.model + spent.execute + spent.harness),
    )


def _failure(step: Step) -> str:
    return (step.error or "failed").replace("_", " ")


def _short_facts(values: dict[str, Any]) -> tuple[Fact, ...]:
    return tuple(
        Fact(
            label=shortened(key, lines=1, characters=60),
            text=shortened(_written(value), lines=4, characters=300),
        )
        for key, value in list(values.items())[:8]
    )


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
