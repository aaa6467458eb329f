"""`mlab tasks`: every task at a glance."""

import click

from mlagentbench.cli.console import print_json, print_table
from mlagentbench.cli.options import edition_option, json_option
from mlagentbench.core import AgentEnvName, Task, default_cache, success_threshold
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
    """List every task: metric, data, starter score and success bar."""
    tasks = [load_task(task_id, edition=edition) for task_id in task_ids()]
    built = {name: _is_built(name) for name in {task.agent_env for task in tasks}}
    if as_json:
        print_json([_document(task, built=built[task.agent_env]) for task in tasks])
        return
    print_table(_COLUMNS, [_row(task, built=built[task.agent_env]) for task in tasks])


def _is_built(agent_env: AgentEnvName) -> bool:
    return find_agent_env(default_cache(), agent_env) is not None


def _row(task: Task, *, built: bool) -> list[str]:
    starter, bar = _scores(task)
    return [
        task.id,
        task.metric,
        task.direction,
        task.data.data,
        f"{task.data.size_mb:g}",
        f"{task.data.memory_gb:g}",
        f"{task.budget.minutes:g}",
        "not measured" if starter is None else f"{starter:.6g}",
        "-" if bar is None else f"{bar:.6g}",
        task.agent_env if built else f"{task.agent_env} (not built yet)",
    ]


def _document(task: Task, *, built: bool) -> dict[str, object]:
    starter, bar = _scores(task)
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
        "success_bar": bar,
    }


def _scores(task: Task) -> tuple[float | None, float | None]:
    if task.measured is None:
        return None, None
    starter = task.measured.starter.mean
    return starter, success_threshold(starter, task.direction)
