"""Plan -> Jobs: everything is checked and built before the engine starts."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from mlagentbench.agents import code_digest, find_agent, load_agent
from mlagentbench.core import (
    Progress,
    RunObserver,
    Task,
    UsageError,
    calibrate,
    describe_machine,
    sandbox_root,
    utc_now,
)
from mlagentbench.environment import require_isolation
from mlagentbench.experiment import (
    Experiment,
    ExperimentOptions,
    ExperimentSpec,
    Plan,
    TaskSpec,
)
from mlagentbench.run.job import Job
from mlagentbench.run.models.choice import make_local_ready
from mlagentbench.run.models.lookup import check_models
from mlagentbench.run.outside_agent import runnable_agent
from mlagentbench.run.ready import Ready, check_plan, make_ready
from mlagentbench.tasks import SUITE, load_task, problem

PACKAGES = ("mlagentbench", "inspect_ai", "numpy", "optuna", "scipy")


@dataclass(frozen=True)
class Services:
    """The cache, and the observers of preparation and of runs."""

    cache: Path
    progress: Progress
    observer: RunObserver


def make_jobs(
    plan: Plan,
    experiment: Experiment,
    services: Services,
    *,
    models_exist: bool = False,
) -> list[Job]:
    """Check a plan and build what it needs; nothing is written for the experiment yet.

    Under `inspect eval` the models exist already.
    """
    plan = check_plan(plan, models_exist=models_exist)
    tasks = [load_task(name, edition=plan.edition) for name in plan.tasks]
    tasks = [
        task.model_copy(update={"budget": plan.budget.applied(task.budget)})
        for task in tasks
    ]
    limits = str(require_isolation().limits)
    ready = _make_ready(plan, tasks, services)
    started = {
        "agent_digest": code_digest(find_agent(plan.agent)),
        "machine": describe_machine(),
        "calibration_seconds": calibrate(),
    }
    spec = experiment_spec(plan, ready, limits).model_copy(update=started)
    return _jobs(spec, ready, experiment, services)


def jobs_of(experiment: Experiment, services: Services) -> list[Job]:
    """Return the jobs of an experiment that exists."""
    spec = experiment.spec
    experiment.require_agent()
    experiment.require_models()
    load_agent(find_agent(spec.agent))
    check_models(spec)
    tasks = [experiment.task(one) for one in spec.tasks]
    for one, task in zip(spec.tasks, tasks, strict=True):
        if task.digest != one.digest:
            raise UsageError(
                f"the task {one.id} was changed since this experiment started; its runs"
                " cannot be resumed with a different task"
            )
    require_isolation()
    return _jobs(spec, _make_ready(spec, tasks, services), experiment, services)


def _make_ready(
    options: ExperimentOptions, tasks: list[Task], services: Services
) -> list[Ready]:
    ready = [make_ready(task, services.cache, services.progress) for task in tasks]
    make_local_ready(options.models, services.cache, services.progress)
    return ready


def _jobs(
    spec: ExperimentSpec,
    ready: list[Ready],
    experiment: Experiment,
    services: Services,
) -> list[Job]:
    agent, digest = runnable_agent(spec.agent), code_digest(find_agent(spec.agent))
    return [
        Job(
            task=one.task,
            prepared=one.prepared,
            problem=problem(one.task),
            agent=agent,
            agent_digest=digest,
            spec=spec,
            experiment=experiment,
            sandboxes=sandbox_root(services.cache),
            agent_env=one.agent_envs[one.task.agent_env].path,
            observer=services.observer,
        )
        for one in ready
    ]


def experiment_spec(plan: Plan, ready: list[Ready], limits: str) -> ExperimentSpec:
    """Return the plan with the versions and limits it is carried out under."""
    return ExperimentSpec(
        **{name: getattr(plan, name) for name in ExperimentOptions.model_fields},
        tasks=tuple(_task_spec(one.task) for one in ready),
        sandbox="bwrap",
        limits=limits,
        agent_env={
            built.name: built.digest
            for one in ready
            for built in one.agent_envs.values()
        },
        packages={name: version(name) for name in PACKAGES},
        python=platform.python_version(),
        started=utc_now(),
    )


def _task_spec(task: Task) -> TaskSpec:
    return TaskSpec(
        id=task.id,
        version=task.version,
        edition=task.edition,
        # A task of the suite is found by name wherever the package is installed.
        source=task.id if task.folder.is_relative_to(SUITE) else str(task.folder),
        digest=task.digest,
        budget=task.budget,
    )
