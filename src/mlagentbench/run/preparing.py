"""From a plan to orders: everything checked and in place before the engine starts."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mlagentbench.agents.table import find_agent, load_agent, refuse_without_model
from mlagentbench.core.errors import UsageError
from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import SandboxUsed
from mlagentbench.core.task import Task
from mlagentbench.environment.sandbox.probe import require_isolation
from mlagentbench.run.asked import Asked, TaskAsked
from mlagentbench.run.closing import now
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.models.choice import check_local, make_local_ready, spelled_out
from mlagentbench.run.models.reach import reached, refuse_keys
from mlagentbench.run.order import Audience, Order, models_of
from mlagentbench.run.places import rooms
from mlagentbench.run.plan import NO_MODEL, Judge, Plan
from mlagentbench.run.prices import refuse_unpriced
from mlagentbench.run.readiness import Ready, make_ready
from mlagentbench.run.rehearsal import try_settings
from mlagentbench.run.speech import speech_of
from mlagentbench.tasks.catalogue import SUITE, load_task
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.problem import problem

PACKAGES = ("mlagentbench", "inspect_ai", "optuna", "pandas", "scikit-learn")


@dataclass(frozen=True)
class Checked:
    """A plan that can be carried out."""

    asked: Asked
    ready: list[Ready]


@dataclass(frozen=True)
class Workshop:
    """Where things are kept and who is told what happens."""

    cache: Path
    progress: Progress
    audience: Audience


def make_orders(plan: Plan, experiment: Experiment, workshop: Workshop) -> list[Order]:
    """Check the plan, make its tasks ready, and begin the experiment."""
    return begin(check(plan, workshop), experiment, workshop)


def check(plan: Plan, workshop: Workshop) -> Checked:
    """Make everything ready that a plan needs.

    Names are checked before anything slow happens, and no folder is made yet, so that
    a wrong command leaves nothing behind.
    """
    plan = _spelled_out(plan)
    entry = find_agent(plan.agent)
    refuse_without_model(entry, model=plan.model != NO_MODEL)
    agent = load_agent(entry)
    refuse_unpriced(plan)
    refuse_keys(plan.model_args)
    _check_models(plan)
    tasks = [_with_budget(plan, name) for name in plan.tasks]
    if entry.is_ours:
        try_settings(agent, tasks[0], plan.settings, speech_of(plan.model))
    limits = str(require_isolation().limits)
    ready = [make_ready(task, workshop.cache, workshop.progress) for task in tasks]
    make_local_ready(_models(plan), workshop.cache, workshop.progress)
    return Checked(_asked(plan, ready, limits), ready)


def begin(checked: Checked, experiment: Experiment, workshop: Workshop) -> list[Order]:
    """Begin the experiment, in a folder of its own."""
    experiment.begin(checked.asked)
    return _orders(checked.asked, checked.ready, experiment, workshop)


def same_orders(experiment: Experiment, workshop: Workshop) -> list[Order]:
    """Return the orders of an experiment that was begun before."""
    asked = experiment.asked
    load_agent(find_agent(asked.agent))
    _check_models(asked)
    tasks = [_unchanged(one) for one in asked.tasks]
    require_isolation()
    ready = [make_ready(task, workshop.cache, workshop.progress) for task in tasks]
    make_local_ready(_models(asked), workshop.cache, workshop.progress)
    return _orders(asked, ready, experiment, workshop)


def same_task(asked: TaskAsked) -> Task:
    """Load a task as it was asked for, if it still is that version."""
    task = load_task(asked.source, edition=asked.edition)
    if task.version != asked.version:
        raise UsageError(
            f"{asked.id} is at version {task.version} here, but the experiment ran"
            f" version {asked.version}; scores of two versions cannot be mixed"
        )
    return task.model_copy(update={"budget": asked.budget})


def _unchanged(asked: TaskAsked) -> Task:
    task = same_task(asked)
    if task_digest(task.folder) != asked.digest:
        raise UsageError(
            f"the task {asked.id} was changed since this experiment began; a run"
            " cannot go on with another task than it began with"
        )
    return task


def _orders(
    asked: Asked, ready: list[Ready], experiment: Experiment, workshop: Workshop
) -> list[Order]:
    agent = load_agent(find_agent(asked.agent))
    return [
        Order(
            task=one.task,
            prepared=one.prepared,
            problem=problem(one.task),
            agent=agent,
            agent_label=asked.agent_label,
            models=models_of(asked),
            settings=asked.settings,
            experiment=experiment,
            rooms=rooms(workshop.cache),
            agent_env=one.agent_envs[one.task.agent_env].path,
            sandbox=SandboxUsed(provider=asked.sandbox, limits=asked.limits),
            audience=workshop.audience,
        )
        for one in ready
    ]


def _spelled_out(plan: Plan) -> Plan:
    whole = {
        "model": spelled_out(plan.model),
        "roles": {role: spelled_out(model) for role, model in plan.roles.items()},
        "judge": plan.judge and _with_whole_name(plan.judge),
    }
    return plan.model_copy(update=whole)


def _with_whole_name(judge: Judge) -> Judge:
    return judge.model_copy(update={"model": spelled_out(judge.model)})


def _check_models(given: Plan | Asked) -> None:
    check_local(_models(given))
    if given.model != NO_MODEL:
        reached(given.model, given.model_args)
    for other in _models(given)[1:]:
        reached(other)


def _models(given: Plan | Asked) -> list[str]:
    judge = [given.judge.model] if given.judge else []
    return [given.model, *given.roles.values(), *judge]


def _with_budget(plan: Plan, name: str) -> Task:
    task = load_task(name, edition=plan.edition)
    return task.model_copy(update={"budget": plan.budget.applied(task.budget)})


def _asked(plan: Plan, ready: list[Ready], limits: str) -> Asked:
    return Asked(
        tasks=tuple(_task_asked(one) for one in ready),
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
        started=now(),
    )


def _task_asked(one: Ready) -> TaskAsked:
    folder = one.task.folder
    return TaskAsked(
        id=one.task.id,
        version=one.task.version,
        edition=one.task.edition,
        # A task of the suite is found by name wherever the package is installed.
        source=one.task.id if folder.is_relative_to(SUITE) else str(folder),
        digest=task_digest(folder),
        budget=one.task.budget,
    )
