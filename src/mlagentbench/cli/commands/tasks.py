"""`mlab tasks`: list the tasks."""

from typing import Any

import click

from mlagentbench.cli.console import print_table
from mlagentbench.cli.options import chosen_tasks, edition_option, json_option
from mlagentbench.cli.output import print_json
from mlagentbench.core import Task, default_cache, success_threshold
from mlagentbench.environment import find_agent_env
from mlagentbench.report import number
from mlagentbench.tasks import editions_of

_DETAILS = ["MB", "GB memory", "minutes", "environment", "version"]
_COLUMNS = ["task", "data", "starter", "success", *_DETAILS, "metric"]


@click.command("tasks")
@edition_option
@json_option
def command(*, edition: str, as_json: bool) -> None:
    """List the tasks with metric, data and starter score.

    `success` is the score that a successful run exceeds. From `version` 2 on,
    validation labels are hidden and each measured validation score is counted.
    """
    tasks = chosen_tasks((), edition=edition, every=True)
    cache = default_cache()
    built = {
        name: find_agent_env(cache, name) is not None
        for name in {task.agent_env for task in tasks}
    }
    documents = [_document(task, built=built[task.agent_env]) for task in tasks]
    if as_json:
        print_json(documents)
        return
    rows = [_row(document) for document in documents]
    print_table(_COLUMNS, rows, optional=_DETAILS)


def _row(task: dict[str, Any]) -> list[str]:
    starter, threshold = task["starter"], task["success_bar"]
    beyond = ">" if task["direction"] == "higher" else "<"
    return [
        *(task[key] for key in ("id", "data")),
        "not measured" if starter is None else number(starter),
        "-" if threshold is None else f"{beyond} {number(threshold)}",
        *(f"{task[key]:g}" for key in ("size_mb", "memory_gb", "minutes")),
        task["agent_env"] + ("" if task["agent_env_built"] else " (not built)"),
        str(task["version"]),
        f"{task['metric']}, {task['unit']}" if task["unit"] else task["metric"],
    ]


def _document(task: Task, *, built: bool) -> dict[str, Any]:
    starter = task.measured.starter.mean if task.measured else None
    return {
        "id": task.id,
        "version": task.version,
        "title": task.title,
        "category": task.category,
        "modality": task.modality,
        "metric": task.metric,
        "direction": task.direction,
        "unit": task.unit,
        "edition": task.edition,
        "editions": editions_of(task.folder),
        "hidden_validation": task.hides_validation,
        "data": task.data.data,
        "summary": task.data.summary,
        "size_mb": task.data.size_mb,
        "memory_gb": task.data.memory_gb,
        "minutes": task.budget.minutes,
        "agent_env": task.agent_env,
        "agent_env_built": built,
        "starter": starter,
        "success_bar": None
        if starter is None
        else success_threshold(starter, task.direction),
    }
