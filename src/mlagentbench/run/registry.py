"""Entry point for `inspect eval`: every task, the sandbox and the model providers.

    inspect eval mlagentbench/house-price --model openai/gpt-4o -T agent=react

leaves an experiment's folder beside its own log, with the same records that `mlab run`
leaves. Models, roles and limits are given by Inspect's own flags. What `-T` does not
name as a parameter of the task is a setting of the agent: `-T style=classic`.
"""

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from inspect_ai import Task as InspectTask
from inspect_ai import task as inspect_registered
from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.model import GenerateConfig, Model, get_model, model_roles

from mlagentbench.agents import usual_agent
from mlagentbench.core import NullObserver, Silent, UsageError, default_cache
from mlagentbench.environment import BwrapSandbox
from mlagentbench.experiment import (
    NO_MODEL,
    BudgetOverride,
    Experiment,
    Plan,
    RetryLimits,
    experiment_folder,
)
from mlagentbench.run.inspect_task import inspect_task
from mlagentbench.run.make_jobs import Services, make_jobs
from mlagentbench.run.models.canned import ReplayModel, ScriptedModel
from mlagentbench.run.models.local import LocalModel
from mlagentbench.run.models.lookup import read_prices
from mlagentbench.tasks import task_ids

__all__ = ["TASKS", "BwrapSandbox", "LocalModel", "ReplayModel", "ScriptedModel"]

_FOLDER = "mlagentbench_folder"


def _task(task_id: str) -> Callable[..., InspectTask]:
    def build(  # noqa: PLR0913  # these are the flags of `-T`
        *,
        agent: str | None = None,
        runs: int = 1,
        seed: int = 0,
        edition: str = "mini",
        max_steps: int | None = None,
        max_minutes: float | None = None,
        max_wall_minutes: float | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        prices: str | None = None,
        **settings: object,
    ) -> InspectTask:
        model = _model()
        name = str(model) if model else None
        config = model.config if model else GenerateConfig()
        given = {key: getattr(config, key) for key in RetryLimits.model_fields}
        patience = {key: value for key, value in given.items() if value is not None}
        plan = Plan(
            tasks=(task_id,),
            agent=agent or usual_agent(name),
            model=name or NO_MODEL,
            roles=_roles(),
            model_args=model.model_args if model else {},
            patience=RetryLimits.model_validate(patience),
            prices=read_prices(Path(prices)) if prices else {},
            settings={key: _as_text(value) for key, value in settings.items()},
            edition=edition,
            seeds=tuple(range(seed, seed + runs)),
            budget=BudgetOverride(
                steps=max_steps,
                minutes=max_minutes,
                wall_minutes=max_wall_minutes,
                tokens=max_tokens,
                cost_usd=max_cost,
            ),
            out=Path(os.environ.get("INSPECT_LOG_DIR", "logs")),
        )
        experiment = Experiment(experiment_folder(plan), plan.named)
        services = Services(default_cache(), Silent(), NullObserver())
        (job,) = make_jobs(plan, experiment, services, models_exist=True)
        experiment.create(job.spec)
        made = inspect_task(job, plan.seeds)
        made.metadata = (made.metadata or {}) | {_FOLDER: str(experiment.folder)}
        _follow_logs()
        return made

    return inspect_registered(name=task_id)(build)


def _model() -> Model | None:
    """Return the model of the evaluation, which Inspect makes before its tasks."""
    try:
        model = get_model()
    except ValueError:
        return None
    return None if str(model) == "none/none" else model


def _roles() -> dict[str, str]:
    """Return the model of each `--model-role`; of several, Inspect uses the first."""
    given = model_roles()
    if "judge" in given:
        raise UsageError(
            "an LLM judge rates finished runs: leave out --model-role judge and run"
            " `mlab score EXP --role judge=MODEL` afterwards"
        )
    return {
        role: str(models[0] if isinstance(models, list) else models)
        for role, models in given.items()
    }


def _as_text(value: object) -> str:
    """Undo Inspect's reading of `-T key=value`: agents read their settings as text."""
    if isinstance(value, list):
        return ",".join(map(_as_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


TASKS = {task_id: _task(task_id) for task_id in task_ids()}


@cache
def _follow_logs() -> type[Hooks]:
    """Register the hook; `mlab` must not have it, so not on import."""

    @hooks(
        name="mlagentbench_records",
        description="Moves the experiment folder to where the log is.",
    )
    class KeepBesideLog(Hooks):
        """Moves an experiment's folder to where `--log-dir` put the log."""

        async def on_task_end(self, data: TaskEnd) -> None:
            """Move the folder: only now Inspect tells where the log is."""
            folder = (data.log.eval.metadata or {}).get(_FOLDER)
            if folder is None or not Path(folder).is_dir():
                return
            logs = Path(data.log.location.removeprefix("file://")).parent
            if logs.is_dir() and logs != Path(folder).absolute().parent:
                shutil.move(folder, logs / Path(folder).name)

    return KeepBesideLog
