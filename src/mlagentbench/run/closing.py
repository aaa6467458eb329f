"""From a finished trace to a scorecard: collect, judge, record."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import BenchError
from mlagentbench.core.scorecard import Harness, RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.core.trace import End, Spent, Trace
from mlagentbench.evaluation.budgets import StepVerdict
from mlagentbench.evaluation.judgement import Circumstances, Verdict, evaluate
from mlagentbench.evaluation.pricing import Price
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.submission import judge_saved, save_submission
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.prepare import Prepared


async def close_run(
    task: Task, run: RunId, experiment: Experiment, sandbox: SandboxEnvironment
) -> None:
    """Collect what the run leaves behind, while its sandbox lives."""
    await save_submission(task, sandbox, experiment.submission(run))


async def score_run(
    task: Task,
    prepared: Prepared,
    run: RunId,
    experiment: Experiment,
    under: Circumstances,
    steps: tuple[StepVerdict, ...] = (),
) -> Scorecard:
    """Judge a run from what was saved of it; `steps` is what each step left."""
    trace = read_trace(experiment.trace(run), str(run))
    if trace.end is None or not trace.end.ending.counts:
        return evaluate(task, run, trace, Verdict(steps=steps), under)
    try:
        verdict = await judge_saved(task, prepared, experiment.submission(run))
        verdict = verdict.model_copy(update={"steps": steps})
    except BenchError as fault:
        return evaluate(task, run, _broken(trace, str(fault)), Verdict(), under)
    return evaluate(task, run, trace, verdict, under)


def ended(trace: Trace, ending: Ending, reason: str | None) -> End:
    """Return the last line of a run that could not write its own."""
    spent = trace.steps[-1].spent if trace.steps else Spent()
    return End(
        run=trace.run,
        ending=ending,
        reason=reason,
        spent=spent,
        seconds=worked(trace),
        at=now(),
    )


def worked(trace: Trace) -> float:
    """Return the seconds that all of a run's steps took."""
    taken = [step.seconds for step in trace.steps]
    return sum(one.model + one.execute + one.harness for one in taken)


def circumstances(
    sandbox: SandboxUsed, attempt: int = 1, prices: Mapping[str, Price] | None = None
) -> Circumstances:
    """Say which code judged, and when."""
    harness = Harness(version=version("mlagentbench"), inspect_ai=version("inspect_ai"))
    return Circumstances(
        sandbox=sandbox,
        harness=harness,
        created=now(),
        attempt=attempt,
        prices=dict(prices or {}),
    )


def now() -> str:
    """Return the time in the form every record uses."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _broken(trace: Trace, reason: str) -> Trace:
    end = ended(trace, Ending.BROKEN, reason)
    return trace.model_copy(update={"end": end})
