"""Evaluation: a task, a trace and a verdict become a scorecard."""

from collections import Counter

from pydantic import Field

from mlagentbench.core import (
    NOT_MEASURED,
    Baseline,
    Ending,
    Harness,
    Origin,
    Record,
    RunId,
    SandboxUsed,
    Scorecard,
    Starter,
    Step,
    Task,
    Trace,
    Units,
    baseline_error,
)
from mlagentbench.evaluation.by_budget import (
    StepVerdict,
    best_step,
    by_budget,
    first_success,
)
from mlagentbench.evaluation.competence import (
    BaselineUnits,
    Competence,
    competence,
)
from mlagentbench.evaluation.cost import (
    Price,
    cpu_seconds,
    run_cost,
    run_seconds,
    tokens,
)
from mlagentbench.evaluation.process.examine import examine
from mlagentbench.evaluation.process.failure import failure_mode


class Verdict(Record):
    """The result of grading a submission: a score, or the reason why there is none."""

    score: float | None = None
    score_ci: tuple[float, float] | None = None
    """The 95 % interval of the score, from its units."""
    units: Units | None = None
    """The parts of the score, if the grader returns them."""
    submission_error: str | None = None
    code_seconds: float = 0.0
    """Seconds of submitted code, if it was run to be graded."""
    steps: tuple[StepVerdict, ...] = ()
    """The grade after every step, if steps were graded."""


class EvaluationContext(Record):
    """What an evaluation needs beside task, trace and verdict."""

    sandbox: SandboxUsed
    harness: Harness
    created: str
    attempt: int = 1
    origin: Origin = Origin.RUN
    agent_digest: str = ""
    """Of the code of an outside agent."""
    task_digest: str = ""
    """Of the task folder when the run started; empty if it is not known."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Of models, if the user gave them."""
    calibration_seconds: float | None = None
    """Of the machine, recorded when the experiment started."""
    code: dict[str, str | None] | None = None
    """The run's final code, see `RunView.code`."""
    baseline_units: BaselineUnits | None = None
    """The units of the task's baselines."""


def evaluate_run(
    task: Task, run: RunId, trace: Trace, verdict: Verdict, context: EvaluationContext
) -> Scorecard:
    """Return the scorecard of a run.

    Nothing is claimed against a baseline that was measured with another task folder.
    """
    measured = task.measured
    wrong_baseline = baseline_error(task, context.task_digest)
    if wrong_baseline is not None:
        task = task.model_copy(update={"measured": None})
    ending = trace.end.ending if trace.end else Ending.INTERRUPTED
    counted = Competence()
    if ending.counts:
        counted = competence(task, verdict.score, verdict.units, context.baseline_units)
    steps = verdict.steps if ending.counts else ()
    cost = run_cost(trace, context.prices)
    process = {}
    # Without the steps of a run made elsewhere there is nothing to check.
    if context.origin is Origin.RUN or trace.steps:
        process = examine(
            task, trace, verdict.score, verdict.submission_error, context.code
        )
    return Scorecard(
        run=str(run),
        task=task.id,
        version=task.version,
        edition=task.edition,
        category=task.category,
        task_digest=task.digest,
        agent=run.agent,
        agent_digest=context.agent_digest,
        model=run.model,
        seed=run.seed,
        ending=ending,
        reason=trace.end.reason if trace.end else None,
        metric=task.metric,
        direction=task.direction,
        score=verdict.score if ending.counts else None,
        score_ci=verdict.score_ci if ending.counts else None,
        submission_error=verdict.submission_error if ending.counts else None,
        starter=_scores_of(measured.starter) if measured else None,
        baseline_error=wrong_baseline,
        improvement=counted.improvement,
        success=counted.success,
        significant=counted.significant,
        improvement_ci=counted.improvement_ci,
        scale=task.scale,
        gap_closed=counted.gap_closed,
        normalised=counted.normalised,
        level=counted.level,
        tuned=_scores_of(measured.tuned) if measured else None,
        reference=_scores_of(measured.reference) if measured else None,
        validation_queries=_validation_queries(trace),
        carried_files=_carried_files(trace),
        best_step=best_step(verdict.steps, task.direction),
        steps=trace.steps[-1].spent.steps if trace.steps else 0,
        actions=dict(Counter(step.action for step in trace.steps)),
        errors=dict(Counter(step.error for step in trace.steps if step.error)),
        process=process,
        failure=failure_mode(trace, process, success=counted.success)
        if process and wrong_baseline is None
        else None,
        first_success=first_success(task, trace, steps, context.prices),
        by_budget=by_budget(task, trace, steps, verdict.score),
        tokens=tokens(trace),
        cost_usd=cost.usd,
        unpriced=cost.unpriced,
        seconds=run_seconds(trace),
        cpu_seconds=cpu_seconds(trace),
        calibration_seconds=context.calibration_seconds,
        resumed=trace.resumed,
        attempt=context.attempt,
        origin=context.origin,
        sandbox=context.sandbox,
        harness=context.harness,
        created=context.created,
    )


def _scores_of(baseline: Baseline | None) -> Starter | None:
    if baseline is None:
        return None
    return Starter(mean=baseline.mean, sd=baseline.sd, n=baseline.n)


def _validation_queries(trace: Trace) -> int:
    """Count the measurements of validation scores, those that failed too."""
    return sum(_is_measured(step) for step in trace.steps)


def _is_measured(step: Step) -> bool:
    failed = (step.note or "").startswith(NOT_MEASURED)
    return step.validation is not None or failed


def _carried_files(trace: Trace) -> tuple[str, ...] | None:
    """Return the carried files of the last measured execution, or else of the last."""
    executed = [step for step in trace.steps if step.carried is not None]
    measured = [step for step in executed if _is_measured(step)]
    return (measured or executed)[-1].carried if executed else None
