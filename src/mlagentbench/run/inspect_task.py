"""The seam: Job -> Inspect task, and its eval.

The solver lets the agent act. Collecting and judging happen in the scorer, because
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

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.experiment.plan import NO_MODEL
from mlagentbench.run.episode import (
    close_run,
    evaluation_context,
    run_episode,
    score_run,
)
from mlagentbench.run.job import Job, Models
from mlagentbench.run.models.lookup import get_checked_model

# Registers the `bwrap` provider with Inspect.
from mlagentbench.environment.sandbox import inspect_provider  # noqa: F401  # isort: skip


def inspect_task(order: Job, seeds: tuple[int, ...]) -> InspectTask:
    """Return the order as something Inspect can evaluate."""
    return InspectTask(
        name=order.task.id,
        version=order.task.version,
        dataset=MemoryDataset([_sample(order, seed) for seed in seeds]),
        solver=_acting(order),
        scorer=_judging(order),
        config=GenerateConfig(**order.models.patience.model_dump()),
        metadata={"task": order.task.name, "agent": order.agent_label},
    )


def _sample(order: Job, seed: int) -> Sample:
    return Sample(
        id=f"{order.task.id}:{seed}",
        input=order.problem,
        metadata={"seed": seed, "run": str(order.run_id(seed))},
        sandbox=SandboxEnvironmentSpec("bwrap", order.sandbox_config(seed)),
    )


def _acting(order: Job) -> Solver:
    @solver(name="agent")
    def agent() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # Inspect's signature
            if state.epoch > 1:
                raise UsageError(
                    "a run is named by its seed: use -T runs=N, not --epochs"
                )
            await run_episode(order, order.run_id(state.metadata["seed"]), sandbox())
            return state

        return solve

    return agent()


def _judging(order: Job) -> Scorer:
    @scorer(name="judge", metrics={"success": [mean()], "improvement": [mean()]})
    def judge() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # Inspect's signature
            run, experiment = order.run_id(state.metadata["seed"]), order.experiment
            await close_run(order.task, run, experiment, sandbox())
            under = evaluation_context(order.sandbox, order.attempt)
            card = await score_run(order.task, order.prepared, run, experiment, under)
            experiment.add_scorecard(card)
            return _as_score(card)

        return score

    return judge()


def _as_score(card: Scorecard) -> Score:
    if not card.ending.counts:
        return Score.unscored(reason=card.ending, explanation=card.reason)
    return Score(
        value={
            "success": float(card.success),
            # Nothing valid was submitted: no improvement, counted as none.
            "improvement": card.improvement or 0.0,
        },
        explanation=card.submission_error or f"{card.metric} = {card.score}",
        metadata=card.model_dump(mode="json"),
    )


Work = list[tuple[Job, tuple[int, ...]]]
"""Orders, each with the seeds to run."""


class Interrupted(Exception):  # noqa: N818  # a person's wish, no error
    """A person stopped the experiment."""


def evaluate_jobs(work: Work, logs: Path, parallel: int) -> dict[str, str]:
    """Run everything; return what went wrong outside our own code, by run."""
    logging.getLogger("inspect_ai").setLevel(logging.ERROR)
    try:
        # Standard output is for results; whatever the engine says is progress.
        with redirect_stdout(sys.stderr):
            results = _evaluate(work, logs, parallel)
    except KeyboardInterrupt:
        raise Interrupted from None
    # Inspect hands back no log at all for a task that was cancelled under way.
    if len(results) < len(work) or any(log.status == "cancelled" for log in results):
        raise Interrupted
    of_runs = {run: why for result in results for run, why in _failures(result)}
    return _of_tasks(work, results) | of_runs


def _evaluate(work: Work, logs: Path, parallel: int) -> list[EvalLog]:
    return inspect_eval(
        [inspect_task(order, seeds) for order, seeds in work],
        **_of_models(work[0][0].models),
        log_dir=str(logs),
        log_format="eval",
        display="none",
        fail_on_error=False,
        score_display=False,
        # Both keep files outside our folder, which a killed run would leave there.
        ctl_server=False,
        log_realtime=False,
        max_tasks=len(work),
        max_samples=parallel,
        max_sandboxes=parallel,
        # An execution holds its slot for minutes; others must not wait for it.
        max_subprocesses=max(8, 4 * parallel),
    )


def _of_models(models: Models) -> dict[str, Any]:
    if models.main == NO_MODEL:
        return {"model": None}
    # Made here, because Inspect takes a name with a comma in it for several.
    return {
        "model": get_checked_model(models.main, models.args),
        "model_roles": {
            role: get_checked_model(name) for role, name in models.roles.items()
        },
    }


def _of_tasks(work: Work, results: list[EvalLog]) -> dict[str, str]:
    """Return why whole tasks failed, for each of their runs."""
    failed = {
        result.eval.task: result.error.message for result in results if result.error
    }
    return {
        str(order.run_id(seed)): failed[order.task.id]
        for order, seeds in work
        for seed in seeds
        if order.task.id in failed
    }


def _failures(result: EvalLog) -> list[tuple[str, str]]:
    samples = result.samples or []
    return [
        (str(sample.metadata.get("run")), sample.error.message)
        for sample in samples
        if sample.error is not None
    ]
