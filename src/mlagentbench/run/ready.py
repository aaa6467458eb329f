"""Work before the engine starts: check a plan, prepare data and environments.

The engine is imported only to look up models, so that `mlab prepare` starts at once
and most mistakes in a command are found at once.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from mlagentbench.agents import (
    check_name,
    find_agent,
    load_agent,
    refuse_without_model,
)
from mlagentbench.core import AgentEnvName, Progress, Task, UsageError, writing_to
from mlagentbench.environment import AgentEnv, ensure_task_env
from mlagentbench.experiment import NO_MODEL, Plan
from mlagentbench.run.models.choice import full_model_name
from mlagentbench.tasks import Prepared, load_task, prepare_task

_SECRET = re.compile(r"(^|_)(key|token|secret|password|credentials?)$", re.IGNORECASE)


def check_plan(plan: Plan, *, models_exist: bool = False) -> Plan:
    """Return the plan with full model names; raise a UsageError if it is wrong.

    Tasks, agent, settings and models are checked here, before anything is built or
    written: a wrong command fails early and leaves nothing behind.
    """
    plan = _with_full_names(plan)
    _refuse_shared_ids([load_task(name, edition=plan.edition) for name in plan.tasks])
    _refuse_keys(plan)
    entry = find_agent(plan.agent)
    check_name(plan.agent_name, entry)
    if not entry.may_use_model and (options := _model_options(plan)):
        raise UsageError(
            f"agent {plan.agent} uses no language model; remove {', '.join(options)}"
            " or choose another agent (see `mlab agents`)"
        )
    refuse_without_model(entry, model=plan.model != NO_MODEL)
    entry.check_settings(plan.settings)
    load_agent(entry)
    if set(plan.models) == {NO_MODEL}:
        return plan

    # This loads the engine, which takes seconds.
    from mlagentbench.run.models.lookup import check_models, refuse_unpriced

    refuse_unpriced(plan)
    if not models_exist:
        check_models(plan)
    return plan


def _refuse_shared_ids(tasks: list[Task]) -> None:
    """Refuse two folders of one id: their runs would have the same names and files."""
    folders: dict[str, Path] = {}
    for task in tasks:
        if task.id in folders:
            raise UsageError(
                f"the task {task.id} is given twice, as {folders[task.id]} and"
                f" {task.folder}; run them as two experiments"
            )
        folders[task.id] = task.folder


def _with_full_names(plan: Plan) -> Plan:
    roles = {role: full_model_name(model) for role, model in plan.roles.items()}
    judge = plan.judge
    if judge is not None:
        judge = judge.model_copy(update={"model": full_model_name(judge.model)})
    return plan.model_copy(
        update={"model": full_model_name(plan.model), "roles": roles, "judge": judge}
    )


def _refuse_keys(plan: Plan) -> None:
    """Refuse a key among the provider's arguments, which experiment.json records."""
    for name in plan.model_args:
        if _SECRET.search(name):
            raise UsageError(
                f"-M {name}=... would be written to experiment.json; put it into the"
                " environment or into .env, where the provider reads it"
            )


def _model_options(plan: Plan) -> list[str]:
    """Return the options of a plan that only matter to a model."""
    given = {
        "--model": plan.model != NO_MODEL,
        "--role": bool(plan.roles),
        "-M": bool(plan.model_args),
        "--max-tokens": plan.budget.tokens is not None,
        "--max-cost": plan.budget.cost_usd is not None,
        "--max-total-cost": plan.total.cost_usd is not None,
    }
    return [option for option, is_given in given.items() if is_given]


@dataclass(frozen=True)
class Ready:
    """A task whose data and environment are in place."""

    task: Task
    prepared: Prepared
    agent_envs: dict[AgentEnvName, AgentEnv]
    """The environments of the agents' code and of graded code."""


def make_ready(task: Task, cache: Path, progress: Progress) -> Ready:
    """Build the task's data and the environments its code runs in, once."""
    with writing_to(cache):
        envs = {
            name: ensure_task_env(cache, task, name, progress)
            for name in task.agent_envs
        }
        return Ready(task, prepare_task(task, cache, progress), envs)
