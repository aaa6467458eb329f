"""From a plan to orders: everything checked and in place before the engine starts."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mlagentbench.agents.catalogue import find_agent, load_agent, refuse_without_model
from mlagentbench.core.cache import sandbox_root
from mlagentbench.core.errors import UsageError
from mlagentbench.core.progress import Progress, RunObserver
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.task import Task
from mlagentbench.core.trace import utc_now
from mlagentbench.environment.sandbox.probe import require_isolation
from mlagentbench.experiment.experiment import Experiment, same_task
from mlagentbench.experiment.plan import NO_MODEL, ExperimentSpec, Judge, Plan, TaskSpec
from mlagentbench.run.job import Job, models_of
from mlagentbench.run.models.choice import (
    check_local,
    full_model_name,
    make_local_ready,
)
from mlagentbench.run.models.lookup import (
    get_checked_model,
    refuse_keys,
    refuse_unpriced,
)
from mlagentbench.run.ready import Ready, make_ready
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import SUITE, load_task, problem

PACKAGES = ("mlagentbench", "inspect_ai", "numpy", "optuna", "scipy")


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that can be carried out."""

    asked: ExperimentSpec
    ready: list[Ready]


@dataclass(frozen=True)
class Services:
    """Where things are kept and who is told what happens."""

    cache: Path
    progress: Progress
    audience: RunObserver


def make_jobs(plan: Plan, experiment: Experiment, workshop: Services) -> list[Job]:
    """Check the plan, make its tasks ready, and start the experiment.

    The models exist already: they were made by the program that calls this.
    """
    checked = check_plan(plan, workshop, models_exist=True)
    return start_experiment(checked, experiment, workshop)


def check_plan(
    plan: Plan, workshop: Services, *, models_exist: bool = False
) -> CheckedPlan:
    """Make everything ready that a plan needs.

    Names are checked before anything slow happens, and no folder is made yet, so that
    a wrong command leaves nothing behind.
    """
    plan = _spelled_out(plan)
    entry = find_agent(plan.agent)
    refuse_without_model(entry, model=plan.model != NO_MODEL)
    load_agent(entry)
    entry.check_settings(plan.settings)
    refuse_unpriced(plan)
    refuse_keys(plan.model_args)
    if not models_exist:
        _check_models(plan)
    tasks = [_with_budget(plan, name) for name in plan.tasks]
    limits = str(require_isolation().limits)
    ready = [make_ready(task, workshop.cache, workshop.progress) for task in tasks]
    make_local_ready(_models(plan), workshop.cache, workshop.progress)
    return CheckedPlan(_spec(plan, ready, limits), ready)


def start_experiment(
    checked: CheckedPlan, experiment: Experiment, workshop: Services
) -> list[Job]:
    """Begin the experiment, in a folder of its own."""
    experiment.create(checked.asked)
    return _jobs(checked.asked, checked.ready, experiment, workshop)


def jobs_of(experiment: Experiment, workshop: Services) -> list[Job]:
    """Return the orders of an experiment that was begun before."""
    asked = experiment.spec
    load_agent(find_agent(asked.agent))
    _check_models(asked)
    tasks = [_unchanged(one) for one in asked.tasks]
    require_isolation()
    ready = [make_ready(task, workshop.cache, workshop.progress) for task in tasks]
    make_local_ready(_models(asked), workshop.cache, workshop.progress)
    return _jobs(asked, ready, experiment, workshop)


def _unchanged(asked: TaskSpec) -> Task:
    task = same_task(asked)
    if task_digest(task.folder) != asked.digest:
        raise UsageError(
            f"the task {asked.id} was changed since this experiment began; a run"
            " cannot go on with another task than it began with"
        )
    return task


def _jobs(
    asked: ExperimentSpec,
    ready: list[Ready],
    experiment: Experiment,
    workshop: Services,
) -> list[Job]:
    agent = load_agent(find_agent(asked.agent))
    return [
        Job(
            task=one.task,
            prepared=one.prepared,
            problem=problem(one.task),
            agent=agent,
            agent_label=asked.agent_label,
            models=models_of(asked),
            settings=asked.settings,
            experiment=experiment,
            rooms=sandbox_root(workshop.cache),
            agent_env=one.agent_envs[one.task.agent_env].path,
            sandbox=SandboxUsed(provider=asked.sandbox, limits=asked.limits),
            audience=workshop.audience,
        )
        for one in ready
    ]


def _spelled_out(plan: Plan) -> Plan:
    whole = {
        "model": full_model_name(plan.model),
        "roles": {role: full_model_name(model) for role, model in plan.roles.items()},
        "judge": plan.judge and _with_whole_name(plan.judge),
    }
    return plan.model_copy(update=whole)


def _with_whole_name(judge: Judge) -> Judge:
    return judge.model_copy(update={"model": full_model_name(judge.model)})


def _check_models(given: Plan | ExperimentSpec) -> None:
    check_local(_models(given))
    if given.model != NO_MODEL:
        get_checked_model(given.model, given.model_args)
    for other in _models(given)[1:]:
        get_checked_model(other)


def _models(given: Plan | ExperimentSpec) -> list[str]:
    judge = [given.judge.model] if given.judge else []
    return [given.model, *given.roles.values(), *judge]


def _with_budget(plan: Plan, name: str) -> Task:
    task = load_task(name, edition=plan.edition)
    return task.model_copy(update={"budget": plan.budget.applied(task.budget)})


def _spec(plan: Plan, ready: list[Ready], limits: str) -> ExperimentSpec:
    return ExperimentSpec(
        tasks=tuple(_task_spec(one) for one in ready),
        agent=plan.agent,
        settings=plan.settings,
        model=plan.model,
        roles=plan.roles,
        model_args=plan.model_args,
        patience=plan.patience,
        judge=plan.judge,
        prices=plan.prices,
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
        started=utc_now(),
    )


def _task_spec(one: Ready) -> TaskSpec:
    folder = one.task.folder
    return TaskSpec(
        id=one.task.id,
        version=one.task.version,
        edition=one.task.edition,
        # A task of the suite is found by name wherever the package is installed.
        source=one.task.id if folder.is_relative_to(SUITE) else str(folder),
        digest=task_digest(folder),
        budget=one.task.budget,
    )
