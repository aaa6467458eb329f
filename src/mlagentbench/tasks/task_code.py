"""Code of a task folder, imported from anywhere.

The folder becomes a package under a private name made from its path and contents.
Its files import each other relatively (`from .metric import ...`), two folders never
share modules, and an edited folder is imported again. The files of an edition with a
folder of its own come first, so that a grader of the task imports the edition's metric.
"""

import hashlib
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, Protocol, cast

from mlagentbench.core import Grade, Task, TaskError, blame
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.digest import sha256_of


class Prepare(Protocol):
    """A task's `prepare(archives, public, private)`, which writes its data."""

    def __call__(
        self, archives: Archives, public: Path, private: Path, *, tamper: bool = False
    ) -> None:
        """Write data for agents into `public` and held-out data into `private`.

        With `tamper`, every held-out label is altered right after the held-out rows
        are chosen and before anything is written. `public` must not show it.
        """


def load_grade(task: Task) -> Grade:
    return cast(Grade, _function(task, "grade"))


def load_prepare(task: Task) -> Prepare:
    return cast(Prepare, _function(task, "prepare"))


def load_function(task: Task, name: str) -> Callable[..., Any] | None:
    """Import the function `name` of `name`.py; None if the task has no such file."""
    if not task.part(f"{name}.py").is_file():
        return None
    return _function(task, name)


def _function(task: Task, name: str) -> Callable[..., Any]:
    path = task.part(f"{name}.py")
    # Byte code in a task folder would hide an edit within the same second.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with blame(TaskError, str(path)):
            module = importlib.import_module(f"{_package(task)}.{name}")
    finally:
        sys.dont_write_bytecode = before
    function = getattr(module, name, None)
    if not callable(function):
        raise TaskError(f"{path}: it must define a function named {name}")
    return cast("Callable[..., Any]", function)


def _package(task: Task) -> str:
    folders = list(dict.fromkeys((task.edition_folder, task.folder)))
    state = [
        line
        for folder in folders
        for line in (
            str(folder),
            *(f"{path.name} {sha256_of(path)}" for path in sorted(folder.glob("*.py"))),
        )
    ]
    digest = hashlib.sha256("\n".join(state).encode()).hexdigest()
    name = f"_mlagentbench_task_{digest[:20]}"
    if name not in sys.modules:
        spec = ModuleSpec(name, loader=None, is_package=True)
        spec.submodule_search_locations = [str(folder) for folder in folders]
        sys.modules[name] = module_from_spec(spec)
    return name
