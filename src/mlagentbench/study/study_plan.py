"""StudyFile -> PlannedStudy: the list of all cells.

Everything is checked here, before a cell runs: names, settings, models and prices. Each
task and agent is loaded once, and nothing is built.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt

from mlagentbench.agents import code_digest, find_agent
from mlagentbench.core import BenchError, Record, Task, UsageError, parse_toml
from mlagentbench.environment import task_env_digests
from mlagentbench.evaluation import Price
from mlagentbench.experiment import (
    NO_MODEL,
    BudgetOverride,
    Judge,
    Plan,
    RetryLimits,
    experiment_folder,
)
from mlagentbench.study.cell import Cell, Resources
from mlagentbench.study.executor import Keep
from mlagentbench.study.study_file import (
    MAX_CELLS,
    NOT_IN_NAMES,
    AgentChoice,
    CellGroup,
    ModelChoice,
    Name,
    StudyFile,
    read_study_file,
)
from mlagentbench.tasks import load_task, paper_task_ids, task_ids

JUDGE = "judge"
ROLES = ("editor", "helper", JUDGE)


class PlannedStudy(Record):
    """All cells of a study, checked and ready to run."""

    name: Name
    cells: tuple[Cell, ...]
    keep: Keep = "best"
    connections: dict[str, PositiveInt] = Field(default_factory=dict)
    text: str = ""
    """The text of the study file; empty for a study that has none."""


def load_study(path: Path, *, check_models: bool = True) -> PlannedStudy:
    """Read a study file and return its cells; a UsageError names file and field.

    Without `check_models`, the keys and packages of models may be missing here: the
    machines that run the cells have them.
    """
    text, study = read_study_file(path)
    try:
        plan = plan_study(study, path.parent, check_models=check_models)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return plan.model_copy(update={"text": text})


def planned_again(name: str, text: str, cells: Sequence[Cell]) -> PlannedStudy:
    """Return a study as its store holds it, with the options of its file."""
    planned = PlannedStudy(name=name, cells=tuple(cells), text=text)
    if not text:
        return planned
    study = StudyFile.model_validate(parse_toml(text))
    options = {"keep": study.keep, "connections": study.connections}
    return planned.model_copy(update=options)


def study_of_plan(
    plan: Plan, agents: Sequence[str], models: Sequence[str]
) -> PlannedStudy:
    """Return the study of a plan with several agents or models, which has no file."""
    group = CellGroup(
        tasks=plan.tasks,
        agents=tuple(AgentChoice(name=one, settings=plan.settings) for one in agents),
        models=tuple(ModelChoice(model=one, roles=plan.roles) for one in models),
        editions=(plan.edition,),
        seeds=plan.seeds,
        limits=plan.budget,
        judge=plan.judge,
        model_args=plan.model_args,
    )
    folder = experiment_folder(plan.model_copy(update={"agent_name": "study"}))
    name = NOT_IN_NAMES.sub("-", folder.name)
    study = StudyFile(name=name, cells=(group,))
    return plan_study(study, Path(), patience=plan.patience, prices=plan.prices)


def plan_study(
    study: StudyFile,
    folder: Path,
    *,
    patience: RetryLimits | None = None,
    prices: Mapping[str, Price] | None = None,
    check_models: bool = True,
) -> PlannedStudy:
    """Return the cells of a study; paths in it start at `folder`.

    `prices` and `patience` are those of studies that have no file.
    """
    if sum(map(_size, study.cells)) > MAX_CELLS:
        raise UsageError(f"the study has more than {MAX_CELLS:,} cells")
    if prices is None:
        prices = _read_prices(study, folder)
    common = _Common(
        folder=folder,
        limits=study.limits,
        patience=patience or RetryLimits(),
        prices=dict(prices),
        check_models=check_models,
    )
    cells: dict[str, Cell] = {}
    for number, group in enumerate(study.cells, 1):
        try:
            for cell in _expand(group, common):
                cells.setdefault(cell.key, cell)
        except BenchError as error:
            raise UsageError(f"[[cells]] {number}: {error}") from error
    _refuse_two_versions(cells.values())
    return PlannedStudy(
        name=study.name,
        cells=tuple(cells.values()),
        keep=study.keep,
        connections=study.connections,
    )


def _size(group: CellGroup) -> int:
    names = sum(len(_task_names(name)) for name in group.tasks)
    parts = (group.editions, group.agents, group.models or (None,), group.seeds)
    return names * math.prod(map(len, parts))


def _task_names(name: str) -> list[str]:
    match name:
        case "all":
            return task_ids()
        case "paper":
            return paper_task_ids()
    return [name]


def _read_prices(study: StudyFile, folder: Path) -> dict[str, Price]:
    if not study.prices:
        return {}
    from mlagentbench.run import read_prices

    return read_prices(folder / study.prices)


@dataclass
class _Common:
    """What all cells share; each task is loaded once."""

    folder: Path
    limits: BudgetOverride
    patience: RetryLimits
    prices: dict[str, Price]
    check_models: bool
    tasks: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def task_fields(self, name: str, edition: str) -> dict[str, Any]:
        """Return the fields of a cell that its task decides."""
        known = self.tasks.get((name, edition))
        if known is None:
            known = self.tasks[name, edition] = self._load(name, edition)
        return known

    def _load(self, name: str, edition: str) -> dict[str, Any]:
        # The same rule as `load_task`: other names are ids.
        is_path = "/" in name or name.startswith(".")
        source = str((self.folder / name).resolve()) if is_path else name
        task = load_task(source, edition=edition)
        return {
            "task": source,
            "task_name": task.name,
            "task_digest": task.digest,
            "agent_env": task_env_digests(task),
            "resources": _resources(task),
        }


def _resources(task: Task) -> Resources:
    data = task.data
    return Resources(cpus=data.cpus, memory_gb=data.memory_gb, gpus=data.gpus)


def _expand(group: CellGroup, common: _Common) -> Iterator[Cell]:
    """Yield the cells of one table: tasks first, seeds last."""
    names = [one for name in group.tasks for one in _task_names(name)]
    tasks = [common.task_fields(*pair) for pair in product(names, group.editions)]
    chosen = [
        fields
        for agent in group.agents
        for fields in _agent_fields(agent, group, common, tasks[0])
    ]
    for task, fields, seed in product(tasks, chosen, group.seeds):
        yield Cell(**task, **fields, seed=seed)


def _agent_fields(
    agent: AgentChoice, group: CellGroup, common: _Common, task: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the fields that an agent and each of its models decide, checked."""
    from mlagentbench.run import check_plan

    entry = find_agent(agent.name)
    if entry.needs_model and not group.models:
        raise UsageError(
            f"agent {agent.name} needs a language model; add one to models"
        )
    # Models, and limits on them, mean nothing to an agent that uses none.
    models = group.models if entry.may_use_model else ()
    limits = _merged(common.limits, group.limits)
    if not entry.may_use_model:
        limits = limits.model_copy(update={"tokens": None, "cost_usd": None})
    for model in models or (None,):
        options = _model_fields(model, group)
        cell = {
            "agent": agent.name,
            "agent_name": agent.label,
            "settings": agent.settings,
            "budget": limits,
            "patience": common.patience,
            "prices": common.prices,
            **options,
        }
        asked = Plan(tasks=(task["task"],), edition=_edition(task), **cell)
        plan = check_plan(asked, models_exist=not common.check_models)
        checked = {name: getattr(plan, name) for name in cell}
        yield checked | {"agent_digest": code_digest(entry)}


def _edition(task: dict[str, Any]) -> str:
    return str(task["task_name"]).rpartition("/")[2]


def _merged(first: BudgetOverride, then: BudgetOverride) -> BudgetOverride:
    return first.model_copy(update=then.model_dump(exclude_none=True))


def _model_fields(model: ModelChoice | None, group: CellGroup) -> dict[str, Any]:
    roles = group.roles | (model.roles if model else {})
    if unknown := sorted(set(roles) - set(ROLES)):
        known = ", ".join(ROLES)
        raise UsageError(f"unknown role '{unknown[0]}' in roles; choose from: {known}")
    judge = group.judge
    if (named := roles.pop(JUDGE, None)) is not None:
        judge = (judge or Judge(model=named)).model_copy(update={"model": named})
    if model is None or model.model == NO_MODEL:
        return {"judge": judge}
    return {
        "model": model.model,
        "roles": roles,
        "model_args": group.model_args | model.args,
        "judge": judge,
    }


def _refuse_two_versions(cells: Iterable[Cell]) -> None:
    """Refuse two folders of one task: their runs would have the same names."""
    found: dict[str, Cell] = {}
    for cell in cells:
        first = found.setdefault(cell.task_name, cell)
        if first.task_digest != cell.task_digest:
            raise UsageError(
                f"the task {cell.task_name} is given twice, as {first.task} and"
                f" {cell.task}; use two studies"
            )
