"""Faults at the writes of a process: loaded into a harness by tests, never by it.

Every change below one folder passes through here and is counted: files and folders
made, bytes written, names given and taken. At one chosen count something happens,
before the change, after half of its bytes, or after it.
"""

import _pyio
import builtins
import contextlib
import io
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Moment = Literal["before", "half", "after"]
_NAMED = ("mkdir", "rmdir", "unlink", "remove", "truncate")
_RENAMED = ("replace", "rename", "link", "symlink")
_FIRST_OF_LOG = 10_000
"""Changes of the engine's log have numbers of their own: how many there are depends on
time, and the numbers of all others must not."""


@dataclass(frozen=True)
class Change:
    """One change to the watched folder."""

    kind: str
    path: str
    """Relative to the folder."""
    size: int = 0

    @property
    def has_half(self) -> bool:
        """Whether it can be cut off in the middle."""
        return self.kind == "write" and self.size > 1


@dataclass(frozen=True)
class Fault:
    """What happens at which change."""

    number: int
    moment: Moment
    act: Callable[[], None]


class Injection:
    """Counts the changes to one folder, and lets one fault happen."""

    def __init__(self, folder: Path, fault: Fault | None = None) -> None:
        self._folder = str(folder.absolute())
        self._fault = fault
        self._inside = threading.local()
        self.changes: dict[int, Change] = {}
        """By number, from 1."""
        self._last: Change | None = None
        self._real = {name: getattr(os, name) for name in (*_NAMED, *_RENAMED)}
        self._real |= {name: getattr(os, name) for name in ("open", "write")}
        self._real["ftruncate"] = os.ftruncate
        self._open = io.open

    def install(self) -> None:
        """Take the place of the functions that change files."""
        for name in _NAMED:
            setattr(os, name, self._by_name(name))
        for name in _RENAMED:
            setattr(os, name, self._by_two_names(name))
        os.open = self._opening
        os.write = self._writing
        os.ftruncate = self._cutting
        # Python's own twin of the C classes does all its work through `os`.
        io.open = builtins.open = self._opening_file

    def _by_name(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def changed(path: Any, *rest: Any, **more: Any):
            shown = self._shown(path, more.get("dir_fd"))
            if self._exists(shown) == (name == "mkdir"):
                # It will fail, or is there already: nothing changes.
                return real(path, *rest, **more)
            return self._change(Change(name, shown), lambda: real(path, *rest, **more))

        return changed

    def _by_two_names(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def changed(source: Any, target: Any, **more: Any):
            change = Change(name, self._shown(target, more.get("dst_dir_fd")))
            return self._change(change, lambda: real(source, target, **more))

        return changed

    def _opening(self, path: Any, flags: int, *rest: Any, **more: Any) -> int:
        def real() -> int:
            return self._real["open"](path, flags, *rest, **more)

        shown = self._shown(path, more.get("dir_fd"))
        makes = flags & os.O_CREAT and not self._exists(shown)
        if not makes and not flags & os.O_TRUNC:
            return real()
        return self._change(Change("open", shown), real)

    def _opening_file(self, file: Any, mode: str = "r", *rest: Any, **more: Any):
        reads = not set(mode) & set("wax+")
        if reads or not self._shown(file, None):
            return self._open(file, mode, *rest, **more)
        return _pyio.open(file, mode, *rest, **more)

    def _writing(self, descriptor: int, data: Any) -> int:
        real, whole = self._real["write"], memoryview(data).cast("B")
        change = Change("write", self._held(descriptor), len(whole))

        def half() -> int:
            return real(descriptor, whole[: len(whole) // 2])

        return self._change(change, lambda: real(descriptor, data), half)

    def _cutting(self, descriptor: int, length: int) -> None:
        change = Change("ftruncate", self._held(descriptor))
        self._change(change, lambda: self._real["ftruncate"](descriptor, length))

    def _change(
        self,
        change: Change,
        real: Callable[[], Any],
        half: Callable[[], int] | None = None,
    ) -> Any:
        if not change.path or getattr(self._inside, "yes", False):
            return real()
        if self._goes_on(change):
            return real()
        self._last = change
        number = self._next_number(change)
        self.changes[number] = change
        fault = self._fault
        if fault is None or fault.number != number:
            return real()
        if fault.moment == "before":
            self._act(fault)
            return real()
        result = half() if fault.moment == "half" and half else real()
        self._act(fault)
        return result

    def _act(self, fault: Fault) -> None:
        self._inside.yes = True
        try:
            fault.act()
        finally:
            self._inside.yes = False

    def _next_number(self, change: Change) -> int:
        of_log = sum(number >= _FIRST_OF_LOG for number in self.changes)
        if change.path.startswith("logs"):
            return _FIRST_OF_LOG + of_log
        return 1 + len(self.changes) - of_log

    def _goes_on(self, change: Change) -> bool:
        """Whether it is one more piece of contents that come in many."""
        last = self._last
        same = last is not None and (last.kind, last.path) == ("write", change.path)
        return same and "/incoming/" in change.path

    def _exists(self, shown: str) -> bool:
        return os.path.lexists(os.path.join(self._folder, shown))

    def _shown(self, path: Any, dir_fd: int | None) -> str:
        if isinstance(path, int):
            return self._held(path)
        name = os.fsdecode(path)
        if dir_fd is not None:
            with contextlib.suppress(OSError):
                name = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), name)
        return self._below(os.path.abspath(name))

    def _held(self, descriptor: int) -> str:
        try:
            return self._below(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            return ""

    def _below(self, path: str) -> str:
        if path == self._folder:
            return "."
        inside = path.startswith(f"{self._folder}/")
        return path[len(self._folder) + 1 :] if inside else ""


def die() -> None:
    """End this process as nothing can prevent."""
    os.kill(os.getpid(), signal.SIGKILL)
