"""Results at smaller budgets, from the grades of a run's snapshots."""

import math
from collections.abc import Mapping, Sequence

from mlagentbench.core import (
    BestStep,
    BudgetPoint,
    Direction,
    Ending,
    FirstSuccess,
    ModelCall,
    Record,
    Task,
    Trace,
)
from mlagentbench.evaluation.competence import competence
from mlagentbench.evaluation.cost import Price, priced

BUDGETS = (10, 20, 50)
"""In steps; the end of the run is one more."""


class StepVerdict(Record):
    """The grade after a step; it holds until the next."""

    step: int
    score: float | None = None
    """None if there was no valid submission."""


def best_step(verdicts: Sequence[StepVerdict], direction: Direction) -> BestStep | None:
    """Return the best of the graded steps, the earliest if several are equal."""
    scored = [(one.step, one.score) for one in verdicts if one.score is not None]
    if not scored:
        return None
    step, score = max(scored, key=lambda one: direction.sign * one[1])
    return BestStep(step=step, score=score)


def first_success(
    task: Task,
    trace: Trace,
    verdicts: Sequence[StepVerdict],
    prices: Mapping[str, Price],
) -> FirstSuccess | None:
    """Return when a run first passed the success threshold."""
    passing = {one.step for one in verdicts if competence(task, one.score).success}
    calls: list[ModelCall] = []
    for step in trace.steps:
        calls += step.calls
        if step.step in passing:
            return FirstSuccess(
                step=step.step,
                seconds=step.spent.seconds,
                tokens=step.spent.tokens,
                cost_usd=priced(step.spent.cost, calls, prices).usd,
            )
    return None


def by_budget(
    task: Task,
    trace: Trace,
    verdicts: Sequence[StepVerdict],
    final: float | None,
) -> tuple[BudgetPoint, ...]:
    """Return what a run would have scored with each of the budgets.

    With fewer steps an agent would have submitted its best so far: the step with the
    best validation score. A budget without a measured best is left out, and so is one
    whose best was never graded.

    A run that ended by itself would have ended so with more steps too. For one that
    ran out of steps, larger budgets are unknown.
    """
    if not verdicts or not trace.steps:
        return ()
    taken = trace.steps[-1].spent.steps
    truncated = trace.end is None or trace.end.ending is Ending.OUT_OF_STEPS
    scores = {
        steps: verdict.score
        for steps in BUDGETS
        if steps < taken and (verdict := _best_within(task, trace, verdicts, steps))
    }
    scores[taken] = final
    if not truncated:
        scores |= {steps: final for steps in BUDGETS if steps > taken}
    return tuple(
        BudgetPoint(steps=steps, score=score, success=competence(task, score).success)
        for steps, score in scores.items()
    )


def _best_within(
    task: Task, trace: Trace, verdicts: Sequence[StepVerdict], budget: int
) -> StepVerdict | None:
    """Return the grade of the best step within a budget; None if it is unknown."""
    verdicts = sorted(verdicts, key=lambda one: one.step)
    within = [step for step in trace.steps if step.spent.steps <= budget]
    last = within[-1].step if within else 0
    graded = [one for one in verdicts if one.step <= last]
    if graded and all(one.score is None for one in graded):
        return graded[-1]
    measured = [
        (task.direction.sign * step.validation.value, -step.step, step.snapshot)
        for step in within
        if step.validation and math.isfinite(step.validation.value)
    ]
    if not measured:
        return None
    _, best, snapshot = max(measured, key=lambda one: one[:2])
    known = [one for one in graded if one.step <= -best and snapshot is not None]
    return known[-1] if known else None
