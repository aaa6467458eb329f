"""What the agent is told: problem.md with the task's own numbers filled in.

A name in braces is filled in from the task: `{steps}`, `{minutes}`,
`{execution_minutes}` and `{submission_mb}` from its budget, `{memory_gb}` from its
edition, `{metric}`, `{direction}` and `{unit}` from its metric. Other braces, as in
JSON, stay as they are.
"""

import re

from mlagentbench.core.errors import TaskError
from mlagentbench.core.task import Task

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def problem(task: Task) -> str:
    """Read what the agent is told about the task and its budget."""
    path = task.folder / "problem.md"
    text = path.read_text(encoding="utf-8")
    known = _numbers(task)
    unknown = sorted(set(_PLACEHOLDER.findall(text)) - known.keys())
    if unknown:
        raise TaskError(
            f"{path}: nothing is known to fill in for {{{unknown[0]}}}; "
            f"a problem may name {', '.join(known)}."
        )
    return _PLACEHOLDER.sub(lambda match: known[match[1]], text)


def _numbers(task: Task) -> dict[str, str]:
    return {
        "steps": str(task.budget.steps),
        "minutes": f"{task.budget.minutes:g}",
        "execution_minutes": f"{task.budget.execution_minutes:g}",
        "submission_mb": f"{task.budget.submission_mb:g}",
        "memory_gb": f"{task.data.memory_gb:g}",
        "metric": task.metric,
        "direction": task.direction.value,
        "unit": task.unit,
    }
