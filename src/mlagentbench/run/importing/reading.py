"""Reading below one folder, whatever was planted in it."""

import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mlagentbench.core.errors import UsageError
from mlagentbench.environment.sandbox.beneath import open_beneath
from mlagentbench.environment.snapshots.copying import read_up_to

LARGEST = 64 * 2**20
"""Bytes of one file; the original's traces are far smaller."""
_DEEPEST = 100
"""Of lists and objects within each other."""
_MOST_WARNINGS = 1_000
_LONGEST_NAME = 200


class OddFileError(Exception):
    """A file that is there but cannot be used; the text says why."""


class Entry(NamedTuple):
    """Something in a folder."""

    name: str
    is_folder: bool
    is_link: bool


class LogTree:
    """What lies below one folder; follows nothing and remembers what was odd."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.warnings: list[str] = []

    def warn(self, path: str, why: str) -> None:
        """Remember what is wrong with a file."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(f"{shown(path)}: {why}")
        elif len(self.warnings) == _MOST_WARNINGS:
            self.warnings.append("there is more that could not be read")

    def entries(self, path: str) -> list[Entry]:
        """List a folder, in order; an unreadable one is empty, with a warning."""
        try:
            with (
                self._opened(path or ".", os.O_DIRECTORY) as folder,
                os.scandir(folder) as found,
            ):
                inside = [_entry(one) for one in found]
        except OSError as error:
            self.warn(path, f"cannot be listed: {error.strerror}")
            return []
        return sorted(inside)

    def read(self, path: str, limit: int = LARGEST) -> bytes | None:
        """Return a file's bytes; None where there is none, or none to be used."""
        try:
            with self._opened(path, os.O_NONBLOCK) as file:
                return _whole(file, limit)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.warn(path, f"not read: {error.strerror}")
        except OddFileError as odd:
            self.warn(path, f"not read: {odd}")
        return None

    def json(self, path: str) -> object:
        """Return what a JSON file holds; None where it cannot be used."""
        raw = self.read(path)
        if raw is None:
            return None
        try:
            return parsed(raw)
        except OddFileError as odd:
            self.warn(path, f"not read: {odd}")
            return None

    def exists(self, path: str) -> bool:
        """Tell whether there is anything by that name, be it a link."""
        try:
            with self._opened(path, os.O_PATH):
                return True
        except FileNotFoundError:
            return False
        except OSError:
            return True

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        try:
            base = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(
                f"{self._root} cannot be read: {error.strerror}"
            ) from error
        try:
            handle = open_beneath(base, path, os.O_RDONLY | flags)
        finally:
            os.close(base)
        try:
            yield handle
        finally:
            os.close(handle)


def parsed(raw: bytes) -> object:
    """Parse JSON from anywhere; no depth and no digits it holds can do harm."""
    try:
        value: object = json.loads(raw)
    except RecursionError:
        raise OddFileError("nested too deeply") from None
    except ValueError as error:
        raise OddFileError(f"not valid JSON: {str(error)[:200]}") from None
    if _depth_beyond(value, _DEEPEST):
        raise OddFileError("nested too deeply")
    return value


def shown(path: str) -> str:
    """Show a path on one line, whatever characters it holds."""
    text = ascii(path)[1:-1]
    return text if len(text) <= _LONGEST_NAME else f"...{text[-_LONGEST_NAME:]}"


def _entry(found: os.DirEntry[str]) -> Entry:
    is_folder = found.is_dir(follow_symlinks=False)
    return Entry(found.name, is_folder, found.is_symlink())


def _whole(file: int, limit: int) -> bytes:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise OddFileError("not a plain file")
    raw = read_up_to(file, limit + 1)
    if len(raw) > limit:
        raise OddFileError(f"larger than {limit:,} bytes")
    return raw


def _depth_beyond(value: object, deepest: int) -> bool:
    level = [value]
    for _ in range(deepest):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
