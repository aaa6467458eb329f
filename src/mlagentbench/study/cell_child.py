"""The parent's side of a cell's process, for every executor.

The first line to the process is a `Start`. Later lines are `Granted`, one for each
connection that it may use. The process writes a `Message` per line. Its standard error
is shown only as the reason of a process that died.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from mlagentbench.core import Record, harmless, shortened
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome

_MODULE = "mlagentbench.study.cell_process"
_REASON_CHARACTERS = 500
_TAIL_BYTES = 4_000


class Start(Record):
    """Everything that the process of a cell is given."""

    request: CellRequest
    place: str = ""
    """Where it runs, in words for `mlab status`."""
    path: tuple[str, ...] = ()
    """The module search path of the parent."""


class Granted(Record):
    """A connection that the process asked for is free."""

    granted: str
    """The provider."""


class Message(Record):
    """One line of the process: exactly one of the fields is set."""

    event: CellEvent | None = None
    acquire: str | None = None
    """A provider to which the process wants to open a connection."""
    release: str | None = None
    """A provider of which it has closed one."""


class Limiter(Protocol):
    """Bounds the connections to providers over all cells of a study."""

    def acquire(self, provider: str) -> None:
        """Wait until a connection is free, and take it."""

    def release(self, provider: str) -> None:
        """Give a connection back."""


class CellChild:
    """The process of one cell.

    The kernel kills it when the thread that made this object ends. So that thread must
    live as long as the cell; another thread may read the events.
    """

    def __init__(
        self,
        request: CellRequest,
        *,
        place: str = "",
        env: Mapping[str, str] | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        """Start the process; `env` replaces the environment of this process."""
        self.cell = request.cell.id
        self._limiter = limiter
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self._is_over = False
        # A file, because a full pipe that nobody reads would stop the process.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed at the end
        self._process = subprocess.Popen(
            # Without -P the working directory could replace our modules.
            [sys.executable, "-P", "-m", _MODULE, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=None if env is None else dict(env),
            # Ctrl-C in a terminal reaches the driver alone, which calls `stop`.
            start_new_session=True,
        )
        # An empty entry is the working directory.
        path = tuple(str(Path(entry).absolute()) for entry in sys.path)
        self._send(Start(request=request, place=place, path=path))

    @property
    def pid(self) -> int:
        return self._process.pid

    def events(self) -> Iterator[CellEvent]:
        """Yield the events of the cell; the last one, and only that, is its end."""
        ended = None
        try:
            for message in self._messages():
                if message.acquire is not None:
                    self._start_acquire(message.acquire)
                elif message.release is not None:
                    self._release(message.release)
                elif message.event is not None and message.event.kind == "ended":
                    ended = message.event
                elif message.event is not None:
                    yield message.event
            self._process.wait()
            yield ended or self._lost()
        finally:
            self.kill()
            self._close()

    def stop(self) -> None:
        """Ask the process to end; it copies its progress and releases its lease."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process at once; the next one resumes from the last copy."""
        self._signal(signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended; return whether it has."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _messages(self) -> Iterator[Message]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                yield Message.model_validate_json(line)
            except ValidationError:
                # A killed process may leave half a line.
                return

    def _send(self, message: Record) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # It has ended.
            self._process.stdin.write(message.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()

    def _start_acquire(self, provider: str) -> None:
        # The connection that it waits for may be one that this cell gives back.
        threading.Thread(target=self._acquire, args=(provider,), daemon=True).start()

    def _acquire(self, provider: str) -> None:
        if self._limiter is not None:
            self._limiter.acquire(provider)
        with self._lock:
            self._held[provider] += 1
            if not self._is_over:
                self._send(Granted(granted=provider))
                return
        self._release(provider)

    def _release(self, provider: str) -> None:
        with self._lock:
            is_held = self._held[provider] > 0
            self._held[provider] -= is_held
        if is_held and self._limiter is not None:
            self._limiter.release(provider)

    def _lost(self) -> CellEvent:
        code = self._process.returncode
        if -code in (signal.SIGTERM, signal.SIGINT):
            # It was asked to stop before it could note the signal.
            return self._ended(Outcome.INTERRUPTED, "stopped before it started")
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = self._errors.read().decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        said = f": {shortened(harmless(last), _REASON_CHARACTERS)}" if last else ""
        return self._ended(Outcome.LOST, f"its process ended with {how}{said}")

    def _ended(self, outcome: Outcome, reason: str) -> CellEvent:
        return CellEvent(cell=self.cell, kind="ended", outcome=outcome, reason=reason)

    def _close(self) -> None:
        self._process.wait()
        with self._lock:
            self._is_over = True
        for provider in list(self._held.elements()):
            self._release(provider)
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(BrokenPipeError):
                pipe and pipe.close()
