"""`mlab tasks`: every task at a glance."""

from typing import Any

import click

from mlagentbench.cli.console import print_json, print_table
from mlagentbench.cli.options import edition_option, json_option
from mlagentbench.core import Task, default_cache, success_threshold
from mlagentbench.environment import find_agent_env
from mlagentbench.tasks import load_task, task_ids

_COLUMNS = [
    *("task", "metric", "better", "data", "MB", "GB memory", "minutes"),
    *("starter", "bar", "needs"),
]


@click.command("tasks")
@edition_option
@json_option
def command(*, edition: str, as_json: bool) -> None:
    """List the tasks."""
    tasks = [load_task(task_id, edition=edition) for task_id in task_ids()]
    cache = default_cache()
    built = {
        name: find_agent_env(cache, name) is not None
        for name in {task.agent_env for task in tasks}
    }
    documents = [_document(task, built=built[task.agent_env]) for task in tasks]
    if as_json:
        print_json(documents)
        return
    print_table(_COLUMNS, [_row(document) for document in documents])


def _row(task: dict[str, Any]) -> list[str]:
    starter, threshold = task["starter"], task["success_bar"]
    return [
        *(task[key] for key in ("id", "metric", "direction", "data")),
        *(f"{task[key]:g}" for key in ("size_mb", "memory_gb", "minutes")),
        "not measured" if starter is None else f"{starter:.6g}",
        "-" if threshold is None else f"{threshold:.6g}",
        task["agent_env"] + ("" if task["agent_env_built"] else " (not built yet)"),
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
