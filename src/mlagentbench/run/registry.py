"""What Inspect finds through our entry point: every task, and the sandbox provider.

`inspect eval mlagentbench/house-price -T agent=tuner` leaves an experiment's folder
beside its own log, with the same records that `mlab run` leaves.
"""

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from inspect_ai import Task as InspectTask
from inspect_ai import task as inspect_registered
from inspect_ai.hooks import Hooks, TaskEnd, hooks

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.environment.sandbox.inspect_provider import BwrapSandbox
from mlagentbench.experiment.experiment import Experiment, experiment_folder
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.inspect_task import inspect_task
from mlagentbench.run.make_jobs import Services, make_jobs
from mlagentbench.run.models.canned import ReplayModel, ScriptedModel
from mlagentbench.run.models.local import LocalModel
from mlagentbench.tasks.load import task_ids

__all__ = ["TASKS", "BwrapSandbox", "LocalModel", "ReplayModel", "ScriptedModel"]

_FOLDER = "mlagentbench_folder"


def _task(task_id: str) -> Callable[..., InspectTask]:
    def build(  # these are the flags of `-T`
        *,
        agent: str = "tuner",
        runs: int = 1,
        seed: int = 0,
        edition: str = "mini",
        max_steps: int | None = None,
        max_minutes: float | None = None,
    ) -> InspectTask:
        plan = Plan(
            tasks=(task_id,),
            agent=agent,
            edition=edition,
            seeds=tuple(range(seed, seed + runs)),
            budget=BudgetOverride(steps=max_steps, minutes=max_minutes),
            out=Path(os.environ.get("INSPECT_LOG_DIR", "logs")),
        )
        experiment = Experiment(experiment_folder(plan))
        workshop = Services(default_cache(), Silent(), NullObserver())
        (order,) = make_jobs(plan, experiment, workshop)
        made = inspect_task(order, plan.seeds)
        made.metadata = (made.metadata or {}) | {_FOLDER: str(experiment.folder)}
        _follow_logs()
        return made

    return inspect_registered(name=task_id)(build)


TASKS = {task_id: _task(task_id) for task_id in task_ids()}


@cache
def _follow_logs() -> type[Hooks]:
    """Register the hook, only once Inspect was the one that was called."""

    @hooks(
        name="mlagentbench_records",
        description="Keeps our records of an evaluation beside its log.",
    )
    class KeepBesideLog(Hooks):
        """Moves an experiment's folder to where `--log-dir` put the log."""

        async def on_task_end(self, data: TaskEnd) -> None:
            """Follow the log, which only now says where it is."""
            folder = (data.log.eval.metadata or {}).get(_FOLDER)
            if folder is None or not Path(folder).is_dir():
                return
            logs = Path(data.log.location.removeprefix("file://")).parent
            if logs.is_dir() and logs != Path(folder).absolute().parent:
                shutil.move(folder, logs / Path(folder).name)

    return KeepBesideLog
