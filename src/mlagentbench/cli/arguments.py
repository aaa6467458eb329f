"""Arguments that several commands share."""

from collections.abc import Callable
from typing import Any

import click

from mlagentbench.core.errors import UsageError
from mlagentbench.core.task import Task
from mlagentbench.tasks.catalogue import load_task, task_ids

Command = Callable[..., Any]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)
edition_option = click.option(
    "--edition",
    default="mini",
    show_default=True,
    envvar="MLAB_EDITION",
    help="Edition of the tasks.",
)


def task_arguments(command: Command) -> Command:
    """Add `TASK... | --all`."""
    command = click.option("--all", "every", is_flag=True, help="Every task.")(command)
    return click.argument("tasks", nargs=-1, metavar="TASK...")(command)


def chosen_names(tasks: tuple[str, ...], *, every: bool) -> tuple[str, ...]:
    """Return the task names meant by `TASK... | --all`."""
    if every and tasks:
        raise UsageError("name tasks or give --all, not both")
    if not every and not tasks:
        raise UsageError("name a task, or give --all; `mlab tasks` lists them")
    return tuple(task_ids()) if every else tuple(dict.fromkeys(tasks))


def chosen_tasks(tasks: tuple[str, ...], *, edition: str, every: bool) -> list[Task]:
    """Load the tasks meant by `TASK... | --all`."""
    names = chosen_names(tasks, every=every)
    return [load_task(name, edition=edition) for name in names]
