"""A run's executions: what was changed before each, and what came out."""

import math
from collections.abc import Iterator

from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Step, Trace
from mlagentbench.report.budgeting import fitted, portion
from mlagentbench.report.edits import Edit, edits, writes
from mlagentbench.report.numbers import duration, with_unit
from mlagentbench.report.plain import shortened
from mlagentbench.report.steps import failure

_EXECUTING = ("execute_script", "run_command", "python_repl")
_FRAME = 130
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
    share = portion(room, len(found), frame=_FRAME, least=40, most=600)
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


def executes(step: Step) -> bool:
    """Tell whether a step ran the agent's code."""
    name = "_".join(step.action.lower().split())
    if name in _EXECUTING or step.validation is not None:
        return True
    return step.seconds.execute > 0 and not writes(step)


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
    return shortened(given or step.action, lines=1, characters=200)


def _validation(step: Step, unit: str) -> str:
    return with_unit(step.validation.value, unit) if step.validation else ""
