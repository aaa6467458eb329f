"""Servers of local models: one process for each, ours to start and to stop.

The kernel kills a server when the thread that started it ends, so that also a killed
harness leaves none behind. Start one from the thread that runs the event loop.
"""

import atexit
import os
import secrets
import select
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from mlagentbench.core.errors import MachineError
from mlagentbench.run.models.server import Address, ServingOrder

_LOADING_SECONDS = 300

_SERVERS: dict[tuple[Path, int], "Server"] = {}


class Server:
    """One process that serves one model."""

    def __init__(
        self, weights: Path, name: str, threads: int, *, guessing: bool = True
    ) -> None:
        self.key = secrets.token_urlsafe(32)
        self._name = name
        self._address: Address | None = None
        self._one_asks = threading.Lock()
        # It has no name, so that whatever happens nothing is left of it.
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as we
        self._process = subprocess.Popen(
            (sys.executable, "-I", "-m", "mlagentbench.run.models.server"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            # Ctrl-C is for the harness, which may still want an answer.
            process_group=0,
        )
        self._order(
            ServingOrder(
                weights=weights,
                name=name,
                key=self.key,
                threads=threads,
                parent=os.getpid(),
                guessing=guessing,
            )
        )

    @property
    def pid(self) -> int:
        """The process that serves."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether there still is a process."""
        return self._process.poll() is None

    def url(self) -> str:
        """Wait until the model is loaded and say where it is served."""
        with self._one_asks:
            if self._address is None:
                self._address = self._wait_for_address()
        return self._address.url

    def stop(self) -> None:
        """End the process; it has nothing to tidy up."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._noise):
            if stream is not None:
                stream.close()

    def _order(self, order: ServingOrder) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(order.model_dump_json().encode())
            self._process.stdin.close()

    def _wait_for_address(self) -> Address:
        out = self._process.stdout
        if out is None or not select.select([out], [], [], _LOADING_SECONDS)[0]:
            raise self._failure(f"it was not loaded after {_LOADING_SECONDS} s")
        if not (line := out.readline()):
            self._process.wait()
            raise self._failure(self._last_words())
        return Address.model_validate_json(line)

    def _last_words(self) -> str:
        self._noise.seek(0)
        said = self._noise.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else f"exit {self._process.returncode}"

    def _failure(self, cause: str) -> MachineError:
        self.stop()
        return MachineError(f"the local model {self._name} cannot be served: {cause}")


def serving(weights: Path, name: str, threads: int) -> Server:
    """Return this process's server of a model, started if there is none."""
    known = _SERVERS.get((weights, threads))
    if known is not None and known.alive:
        return known
    if known is not None:
        known.stop()
    if not _SERVERS:
        atexit.register(stop_all)
    started = Server(weights, name, threads)
    _SERVERS[weights, threads] = started
    return started


def stop_all() -> None:
    """End every server of this process; a later question starts one again."""
    for server in _SERVERS.values():
        server.stop()
