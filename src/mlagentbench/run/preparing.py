"""From a plan to orders: everything checked and in place before the engine starts."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mlagentbench.agents.table import find_agent, load_agent
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.task import AgentEnvName, Task
from mlagentbench.environment.agent_env import AgentEnv, ensure_agent_env
from mlagentbench.environment.sandbox.probe import require_isolation
from mlagentbench.run.closing import now
from mlagentbench.run.experiment import Asked, Experiment, TaskAsked
from mlagentbench.run.order import Audience, Order
from mlagentbench.run.places import rooms
from mlagentbench.run.plan import Plan
from mlagentbench.tasks.catalogue import load_task
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.prepare import Prepared, prepare
from mlagentbench.tasks.problem import problem
from mlagentbench.tasks.progress import Progress

PACKAGES = ("mlagentbench", "inspect_ai", "optuna", "pandas", "scikit-learn")


@dataclass(frozen=True)
class Ready:
    """A task whose data and environment are in place."""

    task: Task
    prepared: Prepared
    agent_envs: dict[AgentEnvName, AgentEnv]
    """What its agents' code runs in, and what submitted code is judged in."""


def make_ready(task: Task, cache: Path, progress: Progress) -> Ready:
    """Build the task's data and the environments its code runs in, once."""

    def say(text: str) -> None:
        progress.start(text, None)

    names = [task.agent_env, *([task.grading.agent_env] if task.grading else [])]
    agent_envs = {name: ensure_agent_env(cache, name, progress=say) for name in names}
    return Ready(task, prepare(task, cache, progress), agent_envs)


def make_orders(
    plan: Plan,
    experiment: Experiment,
    cache: Path,
    progress: Progress,
    audience: Audience,
) -> list[Order]:
    """Check the plan, make its tasks ready, and open the experiment's folder.

    Names are checked before anything slow happens, and the folder is made only when
    everything else is there, so that a wrong command leaves nothing behind.
    """
    agent = load_agent(find_agent(plan.agent))
    tasks = [_with_budget(plan, name) for name in plan.tasks]
    limits = str(require_isolation().limits)
    ready = [make_ready(task, cache, progress) for task in tasks]
    experiment.begin(_asked(plan, ready, limits))
    return [
        Order(
            task=one.task,
            prepared=one.prepared,
            problem=problem(one.task),
            agent=agent,
            agent_label=plan.agent_label,
            model=plan.model,
            settings=plan.settings,
            experiment=experiment,
            rooms=rooms(cache),
            agent_env=one.agent_envs[one.task.agent_env].path,
            sandbox=SandboxUsed(provider="bwrap", limits=limits),
            audience=audience,
        )
        for one in ready
    ]


def _with_budget(plan: Plan, name: str) -> Task:
    task = load_task(name, edition=plan.edition)
    return task.model_copy(update={"budget": plan.budget.applied(task.budget)})


def _asked(plan: Plan, ready: list[Ready], limits: str) -> Asked:
    return Asked(
        tasks=tuple(map(_task_asked, plan.tasks, ready)),
        agent=plan.agent_label,
        settings=plan.settings,
        model=plan.model,
        seeds=plan.seeds,
        parallel=plan.parallel,
        sandbox="bwrap",
        limits=limits,
        agent_env={
            name: built.digest
            for one in ready
            for name, built in one.agent_envs.items()
        },
        packages={name: version(name) for name in PACKAGES},
        python=platform.python_version(),
        started=now(),
    )


def _task_asked(source: str, one: Ready) -> TaskAsked:
    return TaskAsked(
        id=one.task.id,
        version=one.task.version,
        edition=one.task.edition,
        source=source,
        digest=task_digest(one.task.folder),
        budget=one.task.budget,
    )
