"""`run_study`: from a study file to results in a store."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt

from mlagentbench.core import Record, UsageError, require_linux
from mlagentbench.experiment import NO_MODEL, Named, TotalLimits
from mlagentbench.study.cell import Cell
from mlagentbench.study.driver import Driver, DriverOptions, StudyObserver
from mlagentbench.study.executor import Engine, Executor, Keep
from mlagentbench.study.local_executor import LocalExecutor
from mlagentbench.study.slurm_job import read_env_file
from mlagentbench.study.store import open_store
from mlagentbench.study.study import STUDY, Study, open_study
from mlagentbench.study.study_file import StudyFile
from mlagentbench.study.study_plan import (
    PlannedStudy,
    load_study,
    plan_study,
    planned_again,
)
from mlagentbench.tasks import find_recorded, is_folder


class StudyOptions(Record):
    """The options of `run_study`, which do not change results."""

    on: Engine = "local"
    out: str | None = None
    """Folder, or address of an object store. Default: `runs/` and the study's name."""
    parallel: PositiveInt | None = None
    """The most cells at a time. Default: the number of cores for `local`, otherwise
    as many as the cluster starts."""
    address: str | None = None
    """Of a Ray cluster. Default: a local one."""
    partition: str | None = None
    """Of Slurm."""
    slurm: dict[str, str] = Field(default_factory=dict)
    """More options of sbatch."""
    env_file: Path | None = None
    """A file with the keys of models."""
    keep: Keep | None = None
    """The snapshots that a bundle keeps, if not those that the study file names."""
    connections: dict[str, PositiveInt] = Field(default_factory=dict)
    """The most model requests at a time, added to those of the study file."""
    again: bool = False
    """Whether cells that have a result run again."""
    total: TotalLimits = TotalLimits()
    task_paths: tuple[Path, ...] = ()
    """Folders of tasks that the plan in a study's folder may use."""
    agents: tuple[str, ...] = ()
    """Outside agents that the plan in a study's folder may use."""


def run_study(
    study: PlannedStudy | StudyFile | str | Path,
    options: StudyOptions | None = None,
    *,
    observer: StudyObserver | None = None,
    **fields: Any,  # noqa: ANN401  # the fields of StudyOptions
) -> Study:
    """Run all cells of a study that have no result; return the study.

    `study` is a study file, or the folder or object store of a study, whose last plan
    is then continued. The options are given as one record or by their names.
    """
    require_linux("a study")
    if options is None:
        options = StudyOptions(**fields)
    elif fields:
        raise UsageError("pass options or their fields, not both")
    planned, out = planned_study(study, options)
    folders = (Path(cell.task) for cell in planned.cells if is_folder(cell.task))
    found = Study(
        open_store(out),
        Named(
            task_paths=tuple(dict.fromkeys(folders)),
            agents=tuple(dict.fromkeys(cell.agent for cell in planned.cells)),
        ),
    )
    found.add_plan(planned.name, planned.text, planned.cells, options.total)
    with _keys(options.env_file):
        driver = Driver(
            found.store,
            planned.cells,
            _executor(found, options, planned.connections),
            DriverOptions(
                keep=planned.keep,
                connections=planned.connections,
                total=options.total,
                again=options.again,
            ),
            observer,
        )
        driver.run()
    return found


def planned_study(
    study: PlannedStudy | StudyFile | str | Path, options: StudyOptions
) -> tuple[PlannedStudy, str]:
    """Return the cells of a study with the options, and where its results go."""
    with _keys(options.env_file):
        planned, out = _read(study, options)
    if options.total.cost_usd is not None:
        _require_prices(planned)
    _refuse_other_results(out, planned.name)
    keep, connections = options.keep or planned.keep, options.connections
    given = {"keep": keep, "connections": planned.connections | connections}
    return planned.model_copy(update=given), out


def _refuse_other_results(out: str, name: str) -> None:
    """Refuse a folder that holds an experiment or another study."""
    study = Study(open_store(out))
    if study.store.read("experiment.json") is not None:
        raise UsageError(f"{out} is an experiment; choose another folder with --out")
    if study.store.read(STUDY) is not None and study.name != name:
        raise UsageError(
            f"{out} holds the study {study.name}, not {name}; choose another folder"
            " with --out"
        )


def _require_prices(planned: PlannedStudy) -> None:
    """Refuse a limit on the cost if the price of a model is unknown."""
    plans = (cell.plan(Path(), "") for cell in planned.cells)
    by_models = {plan.model_label: plan for plan in plans if plan.model != NO_MODEL}
    if by_models:
        # This loads the engine, which takes seconds.
        from mlagentbench.run import require_prices

        for plan in by_models.values():
            require_prices(plan, "--max-total-cost")


def _read(
    study: PlannedStudy | StudyFile | str | Path, options: StudyOptions
) -> tuple[PlannedStudy, str]:
    # The nodes of a Slurm cluster may have keys of their own.
    checked = options.on != "slurm" or options.env_file is not None
    match study:
        case PlannedStudy():
            planned = study
        case StudyFile():
            planned = plan_study(study, Path(), check_models=checked)
        case _ if str(study).endswith(".toml"):
            planned = load_study(Path(study), check_models=checked)
        case _ if options.out is not None:
            raise UsageError(f"--out also needs a study file, unlike {study}")
        case _:
            found = open_study(study)
            if (plan := found.plan) is None:
                raise UsageError(f"{study} has no plan; run it with its study file")
            cells = [_with_named_code(cell, options) for cell in plan.cells]
            return planned_again(found.name, plan.text, cells), found.address
    return planned, options.out or f"runs/{planned.name}"


def _with_named_code(cell: Cell, options: StudyOptions) -> Cell:
    """Return a cell of a study's folder; refuse code that the user did not name."""
    again = "run the study with its study file"
    if ":" in cell.agent and cell.agent not in options.agents:
        raise UsageError(
            f"the study's folder names the agent {cell.agent}, whose code would run on"
            f" this machine; {again}, or add"
            f"{Named(agents=(cell.agent,)).options}"
        )
    if cell.model_args:
        raise UsageError(
            "the study's folder sets model arguments, which may hold the address that"
            f" your keys are sent to; {again}"
        )
    if not is_folder(cell.task):
        return cell
    task = find_recorded(cell.task, cell.edition, cell.task_digest, options.task_paths)
    return cell.model_copy(update={"task": str(task.folder)})


def cells_to_run(planned: PlannedStudy, out: str, options: StudyOptions) -> list[Cell]:
    """Return the cells that have no result yet; all of them if they run again."""
    published = set() if options.again else open_store(out).published()
    return [cell for cell in planned.cells if cell.id not in published]


@contextmanager
def _keys(env_file: Path | None) -> Iterator[None]:
    """Add the variables of a file to the environment, for models and processes."""
    if env_file is None:
        yield
        return
    before = os.environ.copy()
    os.environ.update(read_env_file(env_file))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _executor(
    study: Study, options: StudyOptions, connections: Mapping[str, int]
) -> Executor:
    parallel = options.parallel
    match options.on:
        case "local":
            return LocalExecutor(parallel, connections=connections)
        case "ray":
            from mlagentbench.study.ray_executor import RayExecutor

            keys = read_env_file(options.env_file) if options.env_file else {}
            return RayExecutor(options.address, parallel=parallel, keys=keys)
        case "slurm":
            from mlagentbench.study.slurm_cluster import SlurmOptions
            from mlagentbench.study.slurm_executor import SlurmExecutor

            slurm = SlurmOptions(
                partition=options.partition,
                parallel=parallel,
                env_file=options.env_file,
                sbatch=options.slurm,
            )
            return SlurmExecutor(study.store, study.info.id, slurm)
