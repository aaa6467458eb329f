"""Results at smaller budgets, from the grades of a run's snapshots."""

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

    A run that ended by itself would have ended so with more steps too. For one that
    ran out of steps, larger budgets are unknown.
    """
    if not verdicts or not trace.steps:
        return ()
    taken = trace.steps[-1].spent.steps
    truncated = trace.end is None or trace.end.ending is Ending.OUT_OF_STEPS
    budgets = [*(steps for steps in BUDGETS if steps < taken), taken]
    if not truncated:
        budgets += [steps for steps in BUDGETS if steps > taken]
    points = []
    for steps in budgets:
        score = _score_at(trace, verdicts, steps) if steps < taken else final
        success = competence(task, score).success
        points.append(BudgetPoint(steps=steps, score=score, success=success))
    return tuple(points)


def _score_at(
    trace: Trace, verdicts: Sequence[StepVerdict], budget: int
) -> float | None:
    within = [step.step for step in trace.steps if step.spent.steps <= budget]
    graded = [one for one in verdicts if one.step <= max(within, default=0)]
    return max(graded, key=lambda one: one.step).score if graded else None
