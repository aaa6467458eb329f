"""Skeletons of tasks: complete small tasks to start an own one from.

The folders in `templates/` are tasks themselves, so they were measured like any other.
A skeleton differs from its template only in its name, so the template's measurements
hold for it too.
"""

import re
import shutil
from pathlib import Path

from mlagentbench.core import UsageError, write_atomically, writing_to
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import read_measured, task_ids, write_measured

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("tabular", "text", "image", "code")
_TEMPLATE_ID = "new-task"
_LONGEST_ID = 60
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


def write_skeleton(name: str, kind: str, folder: Path) -> None:
    """Write a task of `kind` named `name` into a new folder."""
    if not _ID.fullmatch(name) or len(name) > _LONGEST_ID:
        raise UsageError(
            f"{name!r} is not a task name: use letters, digits and -, at most"
            f" {_LONGEST_ID} characters, and start with a letter or digit"
        )
    if name.lower() in map(str.lower, task_ids()):
        raise UsageError(f"{name} is a task of the suite; choose another name")
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} already exists; choose another name")
    with writing_to(folder.parent):
        skipped = shutil.ignore_patterns("__pycache__", "checks.json")
        shutil.copytree(TEMPLATES / kind, folder, ignore=skipped)
        for path in folder.rglob("*"):
            if path.suffix in (".toml", ".md", ".py"):
                text = path.read_text(encoding="utf-8")
                write_atomically(path, text.replace(_TEMPLATE_ID, name))
        for edition, measured in read_measured(folder).items():
            digest = task_digest(folder, edition)
            copied = measured.model_copy(update={"digest": digest})
            write_measured(folder, edition, copied)
