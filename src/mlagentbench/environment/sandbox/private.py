"""What no sandbox may read: the harness, its environment, its data, the home folder."""

import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

_PROJECT_MARKS = ("pyproject.toml", ".git")


def private_paths(rooms: Path) -> tuple[Path, ...]:
    """Return every folder that must stay unseen, as its real path."""
    paths = [*_package_folders(), Path.home(), rooms]
    if sys.prefix != sys.base_prefix:
        paths.append(Path(sys.prefix))
    return tuple(dict.fromkeys(path.resolve() for path in paths))


def installed_packages(prefix: Path) -> tuple[Path, ...]:
    """Return the folders below `prefix` into which Python packages are installed."""
    patterns = ("lib*/python*/site-packages", "lib*/python*/dist-packages")
    found = [folder for pattern in patterns for folder in prefix.glob(pattern)]
    return tuple(folder for folder in found if folder.is_dir())


def within(bound: Path, paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return those of `paths` that binding `bound` would show."""
    real = bound.resolve()
    resolved = (path.resolve() for path in paths)
    return tuple(path for path in resolved if path.is_relative_to(real))


def _package_folders() -> Iterator[Path]:
    package = __name__.partition(".")[0]
    spec = find_spec(package)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(location)
        yield from _project_of(Path(location))


def _project_of(package: Path) -> Iterator[Path]:
    # An editable install: tests and history beside the package tell as much as it.
    for folder in package.parents:
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            yield folder
            return
