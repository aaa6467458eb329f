"""`mlab study`: run a study of many runs, write a new study file, cancel a study."""

import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from mlagentbench.cli.confirm import confirm_study, estimate_study, study_in_words
from mlagentbench.cli.options import (
    json_option,
    named_agent_option,
    option,
    read_pairs,
    refuse_too_many,
    task_path_option,
    total_options,
)
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import UsageError, did_you_mean
from mlagentbench.study import Engine, Keep

if TYPE_CHECKING:
    from mlagentbench.study import Cell, Estimate, PlannedStudy, StudyOptions

Command = Callable[..., Any]


class StudyGroup(click.Group):
    """Runs a study whose file or folder stands in place of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self.commands["run"]


@click.group("study", cls=StudyGroup)
def command() -> None:
    """Run agents, models, tasks and seeds as one study.

    `mlab study STUDY` is short for `mlab study run STUDY`.
    """


_OPTIONS = (
    option(
        "--on",
        "Where the runs are executed.",
        type=click.Choice(get_args(Engine)),
        default="local",
    ),
    # MLAB_OUT names the folder of all experiments, and not that of one study.
    click.option(
        "--out",
        metavar="DIR",
        help="Folder, or object store as s3://BUCKET/NAME. Default: runs/ and the name"
        " of the study.",
    ),
    option(
        "--parallel",
        "Most runs at a time. Default: the number of cores for local, otherwise as"
        " many as the cluster starts.",
        metavar="N",
        type=click.IntRange(1),
    ),
    click.option(
        "--address",
        metavar="HOST:PORT",
        help="Address of a Ray cluster. Default: a local one.",
    ),
    click.option("--partition", metavar="NAME", help="Slurm partition."),
    click.option(
        "--slurm",
        multiple=True,
        metavar="KEY=VALUE",
        help="Option of sbatch. Can be repeated.",
    ),
    option(
        "--env-file",
        "File with the keys of models, which only you may read. Slurm jobs read it.",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
    ),
    option(
        "--keep",
        "Snapshots to keep of a finished run. Default: that of the study file, or"
        " best.",
        type=click.Choice(get_args(Keep)),
    ),
    click.option("--again", is_flag=True, help="Repeat runs that have a result."),
    click.option(
        "--connections",
        multiple=True,
        metavar="PROVIDER=N",
        help="Most model requests at a time over all runs. Can be repeated.",
    ),
    task_path_option,
    named_agent_option,
    *total_options,
    click.option(
        "--dry-run", is_flag=True, help="Print cells, hours and maximum cost only."
    ),
    option("--yes", "Start long or costly studies without asking.", is_flag=True),
    json_option,
)


def _study_options(command: Command) -> Command:
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


@command.command("run")
@click.argument("study", metavar="STUDY")
@_study_options
def run_command(
    *,
    study: str,
    on: Engine,
    out: str | None,
    parallel: int | None,
    address: str | None,
    partition: str | None,
    slurm: tuple[str, ...],
    env_file: Path | None,
    keep: Keep | None,
    again: bool,
    connections: tuple[str, ...],
    task_path: tuple[Path, ...],
    agents: tuple[str, ...],
    max_total_cost: float | None,
    max_total_hours: float | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Run the cells of a study that have no result yet.

    STUDY is a study file, which ends in .toml, or the folder or object store of a
    study. A cell is one run. Exits with 1 if a cell has no result at the end. A folder
    names no code: --task-path and --agent name that of its plan.
    """
    from mlagentbench.cli.console import StudyScreen
    from mlagentbench.cli.outcome import print_study
    from mlagentbench.experiment import TotalLimits
    from mlagentbench.study import StudyOptions, cells_to_run, planned_study, run_study

    if not study.endswith(".toml") and "://" not in study and not Path(study).is_dir():
        hint = "write one with `mlab study new FILE.toml`"
        hint = did_you_mean(study, command.commands, hint)
        raise UsageError(f"{study} is not a study file or a folder; {hint}")
    if on == "local" and parallel is not None:
        refuse_too_many(parallel)
    if address is not None and on != "ray":
        raise UsageError("--address also needs --on ray")
    if (partition is not None or slurm) and on != "slurm":
        raise UsageError("--partition and --slurm also need --on slurm")
    options = StudyOptions(
        on=on,
        out=out,
        parallel=parallel,
        address=address,
        partition=partition,
        slurm=read_pairs("--slurm", "KEY=VALUE", slurm),
        env_file=env_file,
        keep=keep,
        again=again,
        connections=_connections(connections),
        task_paths=task_path,
        agents=agents,
        total=TotalLimits(cost_usd=max_total_cost, hours=max_total_hours),
    )
    planned, place = planned_study(study, options)
    options = options.model_copy(update={"out": place})
    left = cells_to_run(planned, place, options)
    if dry_run:
        print_cells(planned, left, options, as_json=as_json)
        return 0
    if not confirm_study(planned, left, options, yes=yes):
        return 1
    with StudyScreen() as screen:
        found = run_study(planned, options, observer=screen)
    return print_study(found, as_json=as_json)


def _connections(pairs: tuple[str, ...]) -> dict[str, int]:
    read = read_pairs("--connections", "PROVIDER=N", pairs)
    for provider, number in read.items():
        if not number.isdecimal() or int(number) < 1:
            raise UsageError(
                f"--connections takes PROVIDER=N, not '{provider}={number}'"
            )
    return {provider: int(number) for provider, number in read.items()}


_COLUMNS = ["task", "agent", "model", "cells", "max hours", "max cost"]


def print_cells(
    planned: "PlannedStudy",
    left: "list[Cell]",
    options: "StudyOptions",
    *,
    as_json: bool,
) -> None:
    """Print the cells to run by task, agent and model, and what they need at most."""
    from mlagentbench.cli.console import print_table
    from mlagentbench.study import estimate

    most = estimate_study(planned, left, options)
    if as_json:
        print_json(_document(planned, left, most))
        return
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in left:
        run = cell.run
        groups.setdefault((cell.task_name, run.agent, run.model), []).append(cell)
    rows = []
    for names, cells in groups.items():
        group = estimate(cells, planned.keep, parallel=1)
        cost = "not capped" if math.isinf(group.cost_usd) else f"${group.cost_usd:,.2f}"
        rows.append([*names, str(group.cells), f"{group.hours:,.1f}", cost])
    print_table(_COLUMNS, rows, prose=["model"])
    say(study_in_words(planned, most, options))
    say(
        f"disk: at most {most.disk_gb:,.1f} GB with --keep {planned.keep}, if every"
        " submission and snapshot is as large as its limit"
    )


def _document(
    planned: "PlannedStudy", left: "list[Cell]", most: "Estimate"
) -> dict[str, Any]:
    missing = {cell.id for cell in left}
    cells = [
        {
            "id": cell.id,
            "run": str(cell.run),
            "task": cell.task_name,
            "agent": cell.run.agent,
            "model": cell.run.model,
            "seed": cell.seed,
            "to_run": cell.id in missing,
        }
        for cell in planned.cells
    ]
    # JSON has no infinity.
    cost = None if math.isinf(most.cost_usd) else most.cost_usd
    return {
        "study": planned.name,
        "keep": planned.keep,
        "max_hours": most.hours,
        "max_cost_usd": cost,
        "max_disk_gb": most.disk_gb,
        "cells": cells,
    }


@command.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def new_command(*, file: Path) -> None:
    """Write a commented study file."""
    from mlagentbench.study import write_template

    write_template(file)
    say(f"wrote {file}; next")
    say(f"  mlab study {shlex.quote(str(file))} --dry-run")


@command.command("cancel")
@click.argument("study", metavar="DIR")
@click.option(
    "--running", is_flag=True, help="Stop running cells too. They can be resumed."
)
def cancel_command(*, study: str, running: bool) -> None:
    """Start no more cells of a study.

    DIR is the folder or object store of the study. Running cells finish, unless
    --running is given. Run the study again to continue it.
    """
    from mlagentbench.study import open_study

    open_study(study).cancel(running=running)
    say(f"cancelled; `mlab study {shlex.quote(study)}` continues")
