"""The seam to Inspect: Job -> Inspect task, and its evaluation.

The solver lets the agent act. Collecting and grading happen in the scorer, because
Inspect still runs scorers, with the sandbox alive, when one of its limits ended a run.
"""

import logging
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from mlagentbench.core import STALE_BASELINE, UsageError
from mlagentbench.experiment import NO_MODEL, ExperimentSpec
from mlagentbench.run.episode import (
    close_run,
    job_context,
    run_episode,
    score_run,
)
from mlagentbench.run.job import Job
from mlagentbench.run.models.lookup import get_checked_model
from mlagentbench.run.total_budget import TotalBudget

# Importing it registers the `bwrap` provider with Inspect.
from mlagentbench.environment import BwrapSandbox  # noqa: F401  # isort: skip


def inspect_task(
    job: Job, seeds: tuple[int, ...], total: TotalBudget | None = None
) -> InspectTask:
    """Return a job as an Inspect task with one sample per seed."""
    return InspectTask(
        early_stopping=total,
        name=job.task.id,
        version=job.task.version,
        dataset=MemoryDataset(
            [
                Sample(
                    id=f"{job.task.id}:{seed}",
                    input=job.problem,
                    metadata={"seed": seed, "run": str(job.run_id(seed))},
                    sandbox=SandboxEnvironmentSpec("bwrap", job.sandbox_config(seed)),
                )
                for seed in seeds
            ]
        ),
        solver=_agent_solver(job),
        scorer=_grader(job),
        config=GenerateConfig(**job.spec.patience.model_dump()),
        metadata={"task": job.task.name, "agent": job.spec.agent_label},
    )


def _agent_solver(job: Job) -> Solver:
    @solver(name="agent")
    def agent() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # Inspect's signature
            if state.epoch > 1:
                raise UsageError(
                    "a run is named by its seed: use -T runs=N, not --epochs"
                )
            await run_episode(job, job.run_id(state.metadata["seed"]), sandbox())
            return state

        return solve

    return agent()


def _grader(job: Job) -> Scorer:
    @scorer(name="judge", metrics={"success": [mean()], "improvement": [mean()]})
    def grade() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # Inspect's signature
            run, experiment = job.run_id(state.metadata["seed"]), job.experiment
            await close_run(job.task, run, experiment, sandbox())
            context = job_context(job)
            card = await score_run(job.task, job.prepared, run, experiment, context)
            experiment.add_scorecard(card)
            if not card.counts:
                reason = STALE_BASELINE if card.ending.counts else card.ending
                why = card.baseline_error or card.reason
                return Score.unscored(reason=reason, explanation=why)
            # Without a valid submission there is no improvement, which counts as 0.
            improvement = card.improvement or 0.0
            return Score(
                value={"success": float(card.success), "improvement": improvement},
                explanation=card.submission_error or f"{card.metric} = {card.score}",
                metadata=card.model_dump(mode="json"),
            )

        return score

    return grade()


Work = list[tuple[Job, tuple[int, ...]]]
"""Jobs, each with the seeds to run."""


class Interrupted(Exception):  # noqa: N818  # not an error
    """The user stopped the experiment."""


def evaluate_jobs(
    work: Work, logs: Path, parallel: int, total: TotalBudget
) -> dict[str, str]:
    """Run all jobs; return the failures outside the harness, by run."""
    logging.getLogger("inspect_ai").setLevel(logging.ERROR)
    try:
        # Standard output is for results; what the engine prints is progress.
        with redirect_stdout(sys.stderr):
            results = _evaluate(work, logs, parallel, total)
    except KeyboardInterrupt:
        raise Interrupted from None
    # Inspect returns no log for a task that was cancelled while it ran.
    if len(results) < len(work) or any(log.status == "cancelled" for log in results):
        raise Interrupted
    failed = {log.eval.task: log.error.message for log in results if log.error}
    of_tasks = {
        str(job.run_id(seed)): failed[job.task.id]
        for job, seeds in work
        for seed in seeds
        if job.task.id in failed
    }
    of_runs = {
        str(sample.metadata.get("run")): sample.error.message
        for log in results
        for sample in log.samples or []
        if sample.error is not None
    }
    return of_tasks | of_runs


def _evaluate(
    work: Work, logs: Path, parallel: int, total: TotalBudget
) -> list[EvalLog]:
    return inspect_eval(
        [inspect_task(job, seeds, total) for job, seeds in work],
        **_model_options(work[0][0].spec),
        log_dir=str(logs),
        log_format="eval",
        display="none",
        fail_on_error=False,
        score_display=False,
        # Both write files outside the experiment, which a killed run would leave.
        ctl_server=False,
        log_realtime=False,
        max_tasks=len(work),
        max_samples=parallel,
        max_sandboxes=parallel,
        # An execution holds its slot for minutes; others must not wait for it.
        max_subprocesses=max(8, 4 * parallel),
    )


def _model_options(spec: ExperimentSpec) -> dict[str, Any]:
    if spec.model == NO_MODEL:
        return {"model": None}
    # Inspect would split a name with a comma into several models.
    return {
        "model": get_checked_model(spec.model, spec.model_args),
        "model_roles": {
            role: get_checked_model(name) for role, name in spec.roles.items()
        },
    }
