"""One run: build it, let the agent act, name its ending, score it."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from inspect_ai.model import GenerateConfig
from inspect_ai.util import LimitExceededError, SandboxEnvironment, sample_limits

from mlagentbench.core.errors import BenchError, ProviderError
from mlagentbench.core.scorecard import Harness, RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.core.trace import End, Ending, Resumed, Spent, Trace, utc_now
from mlagentbench.environment.action import ActionContext, Completion
from mlagentbench.environment.workspace import save_submission
from mlagentbench.evaluation.by_budget import StepVerdict
from mlagentbench.evaluation.cost import Price
from mlagentbench.evaluation.evaluate import EvaluationContext, Verdict, evaluate
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import RecordedRun, TraceWriter, read_trace
from mlagentbench.grading.submission import grade_saved
from mlagentbench.run.budget import RunOver, from_inspect_limit
from mlagentbench.run.job import Job
from mlagentbench.run.model_calls import ModelCaller, preferred_protocol
from mlagentbench.run.run_context import Assignment, RunContext
from mlagentbench.run.steps import ActionRunner, Recorder, SnapshotKeeper
from mlagentbench.run.validation import (
    CodeMeter,
    Meter,
    ValidationMeter,
    judged_before,
    refusal,
)
from mlagentbench.tasks.prepare import Prepared


@dataclass(frozen=True)
class Finish:
    """How an agent's code came to its end."""

    ending: Ending
    reason: str | None = None


async def run_episode(order: Job, run: RunId, sandbox: SandboxEnvironment) -> None:
    """Let the agent act until it is done or its budget is; the trace says all.

    A run that has a past goes through it again, without a model and without its
    sandbox, and then goes on from there.
    """
    path = order.experiment.trace_path(run)
    past = read_trace(path, str(run))
    order.audience.run_started(run, order.task)
    with TraceWriter(path) as trace:
        if past.steps or past.calls:
            trace.append(Resumed(run=str(run), step=len(past.steps), at=utc_now()))
        conductor, recorder = _stage(order, run, sandbox, past, trace)
        clock = time.monotonic() - seconds_worked(past)
        finish = await _finish(order, conductor, recorder)
        trace.append(_end(run, finish, conductor, time.monotonic() - clock))
    order.audience.run_ended(run, finish.ending)


def _stage(
    order: Job,
    run: RunId,
    sandbox: SandboxEnvironment,
    past: Trace,
    trace: TraceWriter,
) -> tuple[RunContext, Recorder]:
    async def check_submission() -> str | None:
        return await refusal(order.task, order.prepared, sandbox)

    def seconds_left() -> float:
        longest = order.task.budget.execution_minutes * 60
        return min(longest, conductor.remaining().seconds)

    async def ask(prompt: str, *, role: str, config: GenerateConfig) -> Completion:
        return await conductor.ask_inside(prompt, role=role, config=config)

    behind = RecordedRun(past)
    asker = ModelCaller(str(run), behind, trace, order.models.prices)
    keeper = SnapshotKeeper(order.task, order.experiment.snapshots, sandbox, past)
    recorder = Recorder(
        str(run),
        keeper,
        behind,
        trace,
        lambda step: order.audience.step_taken(run, step),
    )
    room = ActionContext(
        task=order.task,
        sandbox=sandbox,
        check_submission=check_submission,
        seconds_left=seconds_left,
        step=lambda: recorder.next_step,
        ask=ask,
        restore=recorder.go_back,
        problem=order.problem,
    )
    performer = ActionRunner(room, _meter(order, sandbox, past))
    conductor = RunContext(_assignment(order, run), performer, asker, recorder)
    return conductor, recorder


def _assignment(order: Job, run: RunId) -> Assignment:
    return Assignment(
        run=run,
        task=order.task,
        problem=order.problem,
        settings=order.settings,
        speech=preferred_protocol(order.models.main),
    )


def _meter(order: Job, sandbox: SandboxEnvironment, past: Trace) -> Meter:
    if order.task.grading is None:
        return ValidationMeter(order.task, order.prepared.public, sandbox)
    known = judged_before(order.task, order.experiment.snapshots, past)
    return CodeMeter(order.task, order.prepared, sandbox, known)


async def _finish(order: Job, conductor: RunContext, recorder: Recorder) -> Finish:
    finish = await _agents_end(order, conductor)
    if not finish.ending.counts:
        return finish
    try:
        # What is collected must be there even if nothing was done but replayed.
        await recorder.bring_workspace_up_to_date()
    except BenchError as fault:
        return _blamed(fault)
    return finish


async def _agents_end(order: Job, conductor: RunContext) -> Finish:
    try:
        await order.agent(conductor)
        finish = Finish(Ending.SUBMITTED if conductor.submitted else Ending.STOPPED)
    except RunOver as over:
        finish = Finish(over.ending, over.reason)
    except LimitExceededError as limit:
        met = from_inspect_limit(limit)
        finish = Finish(met.ending, met.reason)
    except BenchError as fault:
        finish = _blamed(fault)
    except Exception as error:  # noqa: BLE001  # an agent may raise anything at all
        finish = Finish(Ending.CRASHED, f"{type(error).__name__}: {error}")
    return finish if conductor.fault is None else _blamed(conductor.fault)


def _blamed(fault: BenchError) -> Finish:
    is_theirs = isinstance(fault, ProviderError)
    return Finish(Ending.PROVIDER_ERROR if is_theirs else Ending.BROKEN, str(fault))


def _end(run: RunId, finish: Finish, conductor: RunContext, seconds: float) -> End:
    return End(
        run=str(run),
        ending=finish.ending,
        reason=finish.reason,
        spent=conductor.spent,
        seconds=round(seconds, 3),
        at=utc_now(),
    )


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
    under: EvaluationContext,
    steps: tuple[StepVerdict, ...] = (),
) -> Scorecard:
    """Judge a run from what was saved of it; `steps` is what each step left."""
    trace = experiment.trace(run)
    if trace.end is None or not trace.end.ending.counts:
        return evaluate(task, run, trace, Verdict(steps=steps), under)
    try:
        verdict = await grade_saved(task, prepared, experiment.submission_folder(run))
        verdict = verdict.model_copy(update={"steps": steps})
    except BenchError as fault:
        return evaluate(task, run, _broken(trace, str(fault)), Verdict(), under)
    return evaluate(task, run, trace, verdict, under)


def end_line(trace: Trace, ending: Ending, reason: str | None) -> End:
    """Return the last line of a run that could not write its own."""
    spent = trace.steps[-1].spent if trace.steps else Spent()
    return End(
        run=trace.run,
        ending=ending,
        reason=reason,
        spent=spent,
        seconds=seconds_worked(trace),
        at=utc_now(),
    )


def seconds_worked(trace: Trace) -> float:
    """Return the seconds that all of a run's steps took."""
    taken = [step.seconds for step in trace.steps]
    return sum(one.model + one.execute + one.harness for one in taken)


def evaluation_context(
    sandbox: SandboxUsed, attempt: int = 1, prices: Mapping[str, Price] | None = None
) -> EvaluationContext:
    """Say which code judged, and when."""
    harness = Harness(version=version("mlagentbench"), inspect_ai=version("inspect_ai"))
    return EvaluationContext(
        sandbox=sandbox,
        harness=harness,
        created=utc_now(),
        attempt=attempt,
        prices=dict(prices or {}),
    )


def _broken(trace: Trace, reason: str) -> Trace:
    end = end_line(trace, Ending.BROKEN, reason)
    return trace.model_copy(update={"end": end})
