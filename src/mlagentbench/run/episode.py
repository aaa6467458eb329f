"""One run: build it, let the agent act, name its ending, score it."""

import logging
import time
from collections.abc import Mapping
from importlib.metadata import version

from inspect_ai.util import LimitExceededError, SandboxEnvironment, sample_limits

from mlagentbench.core import (
    BenchError,
    End,
    Ending,
    Harness,
    ModelReplyError,
    Origin,
    ProviderError,
    Resumed,
    RunId,
    SandboxUsed,
    Scorecard,
    Spent,
    Task,
    Trace,
    harmless,
    utc_now,
)
from mlagentbench.environment import save_submission
from mlagentbench.evaluation import (
    BaselineUnits,
    EvaluationContext,
    Price,
    StepVerdict,
    Verdict,
    evaluate_run,
)
from mlagentbench.experiment import (
    Experiment,
    TraceWriter,
    read_new_scripts,
    starter_texts,
)
from mlagentbench.grading import grade_saved
from mlagentbench.run.agent_process import error_text, own_traceback
from mlagentbench.run.budget import RunOver, from_inspect_limit
from mlagentbench.run.job import Job
from mlagentbench.run.outside_agent import AgentCrash
from mlagentbench.run.run_context import RunContext
from mlagentbench.run.steps import Steps
from mlagentbench.tasks import Prepared, read_units, task_digest

logger = logging.getLogger(__name__)


async def run_episode(job: Job, run: RunId, sandbox: SandboxEnvironment) -> None:
    """Let the agent act until it is done or its budget is exhausted.

    A run that has a past is replayed first, without a model and without its sandbox,
    and then continues from there.
    """
    past = job.experiment.trace(run)
    job.observer.run_started(run, job.task)
    with TraceWriter(job.experiment.trace_path(run)) as trace:
        if past.steps or past.calls:
            trace.append(Resumed(run=str(run), step=len(past.steps), at=utc_now()))
            logger.info("%s: resume after step %d", run, len(past.steps))
        steps = Steps(job, run, sandbox, past, trace)
        clock = time.monotonic() - past.seconds
        context = RunContext(job, run, steps)
        over = await _let_agent_act(job, context, steps, past)
        trace.append(
            End(
                run=str(run),
                ending=over.ending,
                reason=over.reason,
                traceback=over.traceback,
                spent=steps.budget.spent_now(),
                seconds=round(time.monotonic() - clock, 3),
                at=utc_now(),
            )
        )
    logger.info("%s: %s %s", run, over.ending, harmless(over.reason or ""))
    if over.traceback:
        logger.debug("%s: crashed\n%s", run, harmless(over.traceback))
    job.observer.run_ended(run, over.ending)


async def _let_agent_act(
    job: Job, context: RunContext, steps: Steps, past: Trace
) -> RunOver:
    budget = steps.budget
    try:
        async with budget.limits(past.seconds):
            await job.agent(context)
        over = RunOver(Ending.SUBMITTED if budget.submitted else Ending.STOPPED)
    except RunOver as raised:
        over = raised
    except LimitExceededError as limit:
        over = from_inspect_limit(limit)
    except BenchError as fault:
        over = _blamed(fault, past.end)
    except Exception as error:  # noqa: BLE001  # an agent may raise anything at all
        over = _crashed(error)
    if context.fault is not None:
        over = _blamed(context.fault, past.end)
    if over.ending.counts:
        try:
            # The submission is collected even from a run that was only replayed.
            await steps.restore_last_workspace()
        except BenchError as fault:
            return _blamed(fault, past.end)
    return over


def _crashed(error: Exception) -> RunOver:
    if isinstance(error, AgentCrash):
        return RunOver(Ending.CRASHED, str(error), error.traceback)
    return RunOver(Ending.CRASHED, error_text(error), own_traceback(error))


_BY_REPLY = "the model's own reply made its provider fail"


def _blamed(fault: BenchError, before: End | None) -> RunOver:
    """Return the end that a fault causes; `before` is that of the session before.

    A model whose replies void every session would never be counted. The second time in
    a row that its own reply is the cause, the run counts with what it submitted.
    """
    if not isinstance(fault, ProviderError):
        return RunOver(Ending.BROKEN, str(fault))
    if not isinstance(fault, ModelReplyError):
        return RunOver(Ending.PROVIDER_ERROR, str(fault))
    if before is not None and (before.reason or "").startswith(_BY_REPLY):
        return RunOver(Ending.STOPPED, f"twice in a row {_BY_REPLY}: {fault}")
    return RunOver(Ending.PROVIDER_ERROR, f"{_BY_REPLY}: {fault}")


async def close_run(
    task: Task, run: RunId, experiment: Experiment, sandbox: SandboxEnvironment
) -> None:
    """Collect the submission while the sandbox lives; end a run that Inspect ended.

    Inspect cancels the agent when its own clock runs out, or when a person has the run
    scored early. No other run without an end is scored.
    """
    trace = experiment.trace(run)
    if trace.end is None:
        limits = sample_limits()
        clocks = [limits.time, limits.working]
        late = [one for one in clocks if one.limit and one.usage >= one.limit]
        reason = f"Inspect's limit of {late[0].limit:.0f} s" if late else "scored early"
        ending = Ending.OUT_OF_TIME if late else Ending.STOPPED
        with TraceWriter(experiment.trace_path(run)) as writer:
            writer.append(end_line(trace, ending, reason))
    await save_submission(task, sandbox, experiment.submission_folder(run))


async def score_run(
    task: Task,
    prepared: Prepared,
    run: RunId,
    experiment: Experiment,
    context: EvaluationContext,
    steps: tuple[StepVerdict, ...] = (),
) -> Scorecard:
    """Grade a run's saved submission; `steps` holds the verdict on each step's."""
    # The folder may have changed since the task was loaded, and it grades as it is.
    task = task.model_copy(update={"digest": task_digest(task.folder, task.edition)})
    trace, saved = experiment.trace(run), experiment.submission_folder(run)
    code = read_new_scripts(experiment.snapshots, saved, trace, starter_texts(task))
    stored = BaselineUnits.model_validate(read_units(task.folder, task.edition))
    context = context.model_copy(update={"code": code, "baseline_units": stored})
    if trace.end is None or not trace.end.ending.counts:
        return evaluate_run(task, run, trace, Verdict(steps=steps), context)
    try:
        verdict = await grade_saved(task, prepared, saved)
        verdict = verdict.model_copy(update={"steps": steps})
        experiment.write_units(run, verdict.units)
    except BenchError as fault:
        return unscored_card(task, run, trace, Ending.BROKEN, str(fault), context)
    return evaluate_run(task, run, trace, verdict, context)


def unscored_card(
    task: Task,
    run: RunId,
    trace: Trace,
    ending: Ending,
    reason: str | None,
    context: EvaluationContext,
) -> Scorecard:
    """Return the scorecard of a run that ended without a score."""
    ended = trace.model_copy(update={"end": end_line(trace, ending, reason)})
    return evaluate_run(task, run, ended, Verdict(), context)


def end_line(trace: Trace, ending: Ending, reason: str | None) -> End:
    """Return the end of a run that could not record its own."""
    spent = trace.steps[-1].spent if trace.steps else Spent()
    return End(
        run=trace.run,
        ending=ending,
        reason=reason,
        spent=spent,
        seconds=trace.seconds,
        at=utc_now(),
    )


def evaluation_context(
    sandbox: SandboxUsed,
    attempt: int = 1,
    prices: Mapping[str, Price] | None = None,
    origin: Origin = Origin.RUN,
) -> EvaluationContext:
    """Return the circumstances of an evaluation: code versions, time, prices."""
    harness = Harness(version=version("mlagentbench"), inspect_ai=version("inspect_ai"))
    return EvaluationContext(
        sandbox=sandbox,
        harness=harness,
        created=utc_now(),
        attempt=attempt,
        origin=origin,
        prices=dict(prices or {}),
    )


def job_context(job: Job) -> EvaluationContext:
    """Return the circumstances in which this process evaluates a job's runs."""
    of_job = {
        "agent_digest": job.agent_digest,
        "task_digest": job.task.digest,
        "calibration_seconds": job.spec.calibration_seconds,
    }
    return evaluation_context(job.sandbox, job.attempt).model_copy(update=of_job)
