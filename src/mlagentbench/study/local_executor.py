"""Cells as processes of this machine, as many as its cores, memory and GPUs allow."""

import os
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core import usable_cores
from mlagentbench.study.cell_child import CellChild, Limiter
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome

_TO_END = 20.0
"""Seconds that a process has to end after it was asked to."""


@dataclass(frozen=True)
class Machine:
    """What the cells of this machine share."""

    cpus: float
    memory_gb: float
    gpus: tuple[str, ...] = ()
    """Names as in CUDA_VISIBLE_DEVICES."""


def this_machine() -> Machine:
    """Return the cores, the memory and the GPUs that this process may use."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        devices = Path("/dev").glob("nvidia[0-9]*")
        names = sorted(device.name.removeprefix("nvidia") for device in devices)
    else:
        names = [name for name in visible.split(",") if name.strip()]
    return Machine(usable_cores(), memory, tuple(names))


class SharedConnections:
    """A limiter for cells whose parent is this process."""

    def __init__(self, connections: Mapping[str, int]) -> None:
        self._free = {
            provider: threading.Semaphore(number)
            for provider, number in connections.items()
        }

    def acquire(self, provider: str) -> None:
        self._free[provider].acquire()

    def release(self, provider: str) -> None:
        self._free[provider].release()


@dataclass(frozen=True)
class Running:
    """A cell that has a process."""

    child: CellChild
    cpus: float
    memory_gb: float
    gpus: Mapping[str, float]
    """The share of each GPU."""


class LocalExecutor:
    """Runs cells as child processes of this one, which die with it."""

    def __init__(
        self,
        parallel: int | None = None,
        *,
        connections: Mapping[str, int] | None = None,
        machine: Machine | None = None,
    ) -> None:
        self._machine = machine or this_machine()
        self._parallel = parallel or max(1, int(self._machine.cpus))
        self._limiter: Limiter = SharedConnections(connections or {})
        self._waiting: dict[str, CellRequest] = {}
        self._running: dict[str, Running] = {}
        self._events: queue.SimpleQueue[CellEvent] = queue.SimpleQueue()

    def submit(self, requests: Sequence[CellRequest]) -> None:
        for request in requests:
            self._waiting[request.cell.id] = request

    def watch(self, seconds: float) -> list[CellEvent]:
        self._start_cells()
        events = []
        try:
            events.append(self._events.get(timeout=seconds))
            while True:
                events.append(self._events.get_nowait())
        except queue.Empty:
            pass
        for event in events:
            if event.kind == "ended":
                self._running.pop(event.cell, None)
        self._start_cells()
        return events

    def queued(self) -> set[str]:
        return set(self._waiting)

    def cancel(self, *, running: bool) -> None:
        for cell in self._waiting:
            self._end(cell, Outcome.INTERRUPTED, "cancelled before it started")
        self._waiting.clear()
        if running:
            for one in self._running.values():
                one.child.stop()

    def fetch(self, cell: str) -> None:  # noqa: ARG002  # the interface
        return None

    def close(self) -> None:
        self.cancel(running=True)
        latest = time.monotonic() + _TO_END
        for one in self._running.values():
            if not one.child.wait(max(0.0, latest - time.monotonic())):
                one.child.kill()

    def _start_cells(self) -> None:
        """Start every waiting cell that fits beside those that run."""
        for cell, request in tuple(self._waiting.items()):
            if len(self._running) >= self._parallel:
                return
            needs = request.cell.resources
            if needs.gpus > len(self._machine.gpus):
                del self._waiting[cell]
                reason = f"it needs {needs.gpus:g} GPUs; this machine has"
                number = len(self._machine.gpus)
                self._end(cell, Outcome.FAILED, f"{reason} {number or 'none'}")
                continue
            gpus = self._free_gpus(needs.gpus)
            # A cell that needs more than there is runs alone.
            cpus = min(needs.cpus, self._machine.cpus)
            memory = min(needs.memory_gb, self._machine.memory_gb)
            used = self._running.values()
            if (
                gpus is not None
                and sum(one.cpus for one in used) + cpus <= self._machine.cpus
                and sum(one.memory_gb for one in used) + memory
                <= self._machine.memory_gb
            ):
                del self._waiting[cell]
                child = self._start(request, gpus)
                self._running[cell] = Running(child, cpus, memory, gpus)

    def _free_gpus(self, needed: float) -> dict[str, float] | None:
        """Return the GPUs for a cell; cells that need a part of one may share it."""
        free = {
            name: 1.0 - sum(one.gpus.get(name, 0.0) for one in self._running.values())
            for name in self._machine.gpus
        }
        share = min(needed, 1.0)
        fitting = [name for name in free if free[name] >= share]
        number = 0 if needed <= 0 else max(1, round(needed))
        if len(fitting) < number:
            return None
        # A GPU that is shared already is shared first.
        fitting.sort(key=lambda name: free[name])
        return dict.fromkeys(fitting[:number], share)

    def _start(self, request: CellRequest, gpus: Mapping[str, float]) -> CellChild:
        env = dict(os.environ)
        if self._machine.gpus:
            env["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
        child = CellChild(request, place="local", env=env, limiter=self._limiter)
        threading.Thread(target=self._read, args=(child,), daemon=True).start()
        return child

    def _read(self, child: CellChild) -> None:
        for event in child.events():
            self._events.put(event)

    def _end(self, cell: str, outcome: Outcome, reason: str) -> None:
        end = CellEvent(cell=cell, kind="ended", outcome=outcome, reason=reason)
        self._events.put(end)
