"""Which tasks there are, and how to get one by name."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from mlagentbench.core.errors import UsageError
from mlagentbench.core.task import Task
from mlagentbench.tasks.folder import declared_id, load_folder

SUITE = Path(__file__).parent / "suite"
"""The folder of the benchmark's own tasks."""


def task_ids(extra: Sequence[Path] = ()) -> list[str]:
    """List the ids of the suite's tasks and of `extra` task folders, in order."""
    folders = [path.parent for path in SUITE.glob("*/task.toml")]
    ids = {declared_id(folder) for folder in (*folders, *extra)}
    return sorted(ids, key=str.casefold)


def load_task(name: str | Path, *, edition: str = "mini") -> Task:
    """Load a task by its id, or by the path of its folder."""
    if isinstance(name, Path) or "/" in name or name.startswith("."):
        return load_folder(Path(name), edition)
    folder = SUITE / name.lower().replace("-", "_")
    if not (folder / "task.toml").is_file():
        raise UsageError(_unknown(name))
    return load_folder(folder, edition)


def _unknown(name: str) -> str:
    ids = task_ids()
    by_lower = {known.lower(): known for known in ids}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    hint = " or ".join(by_lower[match] for match in near) or ", ".join(ids)
    return f"There is no task {name!r}; did you mean {hint}?"
