"""What no sandbox may read, and how it is covered where it lies in something shown.

Private are the harness, its environment and its project folder, the home folder, the
rooms, and every folder into which packages are installed for an interpreter that is
shown. Data must not lie in anything shown, because its neighbours would be seen too.
"""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox.furnishing import Furnishing
from mlagentbench.environment.sandbox.rooms import RoomFolder

_PROJECT_MARKS = ("pyproject.toml", ".git")
_LIBRARIES = ("python*", "lib*/python*", "local/lib*/python*")
_PACKAGES = ("site-packages", "dist-packages")


class Cover:
    """Shows folders of the host read-only, without what is private in them."""

    def __init__(self, room: RoomFolder) -> None:
        """Cover with the room's empty folder."""
        self._empty = str(room.empty)
        self._private = _private_paths(room.folder.parent)
        self._shown: list[Path] = []
        self._covered: list[Path] = []

    def shown(self, folder: Path) -> list[str]:
        """Return bubblewrap's arguments that show a folder at its own path."""
        real = folder.resolve()
        covered = _outermost([*self._private, *_installed_packages(real)], real)
        self._shown.append(real)
        self._covered += covered
        arguments = ["--ro-bind", str(folder), str(folder)]
        for path in covered:
            target = folder / path.relative_to(real)
            arguments += ["--ro-bind", self._empty, str(target)]
        return arguments

    def refuse_exposed(self, furnishing: Furnishing) -> None:
        """Refuse sources that are seen with their neighbours or hold private files."""
        for mount in furnishing.mounts:
            if _outermost(self._private, mount.source.resolve()):
                raise MachineError(f"{mount.source} holds files no sandbox may see")
        sources = [mount.source for mount in furnishing.mounts]
        for source in (furnishing.agent_env, *sources):
            seen = _is_below(source.resolve(), self._shown)
            if seen and not _is_below(source.resolve(), self._covered):
                raise MachineError(
                    f"{source} lies where every sandbox can read; move the cache "
                    f"out of {' and '.join(map(str, self._shown))}"
                )


def _private_paths(rooms: Path) -> list[Path]:
    paths = [*_own_folders(), rooms]
    # A user that no list of users knows has no home.
    with contextlib.suppress(RuntimeError):
        paths.append(Path.home())
    if sys.prefix != sys.base_prefix:
        paths.append(Path(sys.prefix))
    return [path.resolve() for path in paths]


def _own_folders() -> Iterator[Path]:
    spec = find_spec(__name__.partition(".")[0])
    for location in (spec.submodule_search_locations or ()) if spec else ():
        package = Path(location)
        yield package
        # An editable install: tests and history beside it tell as much as it does.
        projects = (parent for parent in package.parents if _is_project(parent))
        yield from list(projects)[:1]


def _is_project(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _PROJECT_MARKS)


def _installed_packages(folder: Path) -> list[Path]:
    patterns = (f"{above}/{name}" for above in _LIBRARIES for name in _PACKAGES)
    found = (path for pattern in patterns for path in folder.glob(pattern))
    return [path.resolve() for path in found if path.is_dir()]


def _outermost(paths: Iterable[Path], folder: Path) -> list[Path]:
    outermost: list[Path] = []
    for path in sorted(paths):
        if path.is_relative_to(folder) and not _is_below(path, outermost):
            outermost.append(path)
    return outermost


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
