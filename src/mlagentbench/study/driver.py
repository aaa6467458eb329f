"""The driver: submits the cells that are missing, and follows them to their ends.

A driver holds nothing that another one needs. It can be killed at any moment, and two
drivers can work on one study: leases keep a cell from running twice.
"""

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Protocol

from mlagentbench.experiment import TotalLimits
from mlagentbench.study.cell import Cell
from mlagentbench.study.executor import (
    CellEvent,
    CellRequest,
    Executor,
    Keep,
    Outcome,
)
from mlagentbench.study.store import Store
from mlagentbench.study.study_status import CellState, read_cells

_WATCH_SECONDS = 1.0
_LOOK_SECONDS = 3.0
"""Time between two looks at cells that other processes run, and at `cancel.json`."""
_MOST_LOSSES = 3
"""Times that a driver submits a cell again whose process died."""


class StudyObserver(Protocol):
    """A receiver of the events of a study as they happen."""

    def study_started(self, cells: int, published: int) -> None:
        """Receive the number of planned cells, and how many are published."""

    def cell_changed(self, event: CellEvent) -> None:
        """Receive an event of one cell."""

    def notice(self, text: str) -> None:
        """Receive a line for the user."""


class SilentObserver:
    """An observer that ignores every event."""

    def study_started(self, cells: int, published: int) -> None:
        """Ignore it."""

    def cell_changed(self, event: CellEvent) -> None:
        """Ignore it."""

    def notice(self, text: str) -> None:
        """Ignore it."""


@dataclass(frozen=True)
class DriverOptions:
    """How a driver runs the cells of a study."""

    keep: Keep = "best"
    connections: Mapping[str, int] = field(default_factory=dict)
    total: TotalLimits = field(default_factory=TotalLimits)
    again: bool = False
    """Run published cells again; their results are moved to `replaced/`."""
    copy_seconds: float = 30.0


@dataclass(frozen=True)
class StudyEnd:
    """How far a driver came."""

    published: int
    missing: tuple[str, ...]
    """The ids of planned cells without a result."""
    failed: Mapping[str, str]
    """Reasons by cell, of cells that this driver ran."""
    stopped: str | None
    """Why the driver started no more cells, or None."""


class Driver:
    """Runs those of some cells that are missing in a store."""

    def __init__(
        self,
        store: Store,
        cells: Iterable[Cell],
        executor: Executor,
        options: DriverOptions | None = None,
        observer: StudyObserver | None = None,
    ) -> None:
        self._store = store
        self._study = _document(store.read("study.json") or "")["id"]
        self._cells = {cell.id: cell for cell in cells}
        self._executor = executor
        self._options = options or DriverOptions()
        self._observer = observer or SilentObserver()
        self._submitted: set[str] = set()
        self._elsewhere: set[str] = set()
        """Cells that other processes run or will start."""
        self._failed: dict[str, str] = {}
        self._losses: Counter[str] = Counter()
        self._costs: dict[str, float] = {}
        self._started = time.monotonic()
        self._looked = self._started
        self._stopped: str | None = None
        self._is_stopping = False
        """Whether running cells were asked to end."""
        self._interrupted = False

    def run(self) -> StudyEnd:
        """Run all missing cells; return when none of them runs any more.

        At Ctrl-C the running cells end gracefully. A second one is not caught.
        """
        with self._first_ctrl_c_noted(), closing(self._executor):
            if self._options.again:
                self._set_aside()
            missing = self._read_published()
            self._check_limits()
            self._submit_free(missing)
            self._follow()
        published = self._store.published()
        left = tuple(cell for cell in self._cells if cell not in published)
        done = len(self._cells) - len(left)
        return StudyEnd(done, left, self._failed, self._stopped)

    @contextmanager
    def _first_ctrl_c_noted(self) -> Iterator[None]:
        """Note Ctrl-C, so that it cannot break off the start of a process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def note(*_: object) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _set_aside(self) -> None:
        for cell in self._store.published() & self._cells.keys():
            self._store.set_aside(cell)

    def _read_published(self) -> list[str]:
        """Return the cells that are missing; report results of other versions."""
        published = self._store.published()
        own, others = version("mlagentbench"), 0
        for cell, summary in self._store.summaries(self._cells.keys() & published):
            others += _document(summary.cell).get("harness") != own
            cards = map(_document, summary.scorecards.splitlines())
            self._costs[cell] = sum(card.get("cost_usd") or 0.0 for card in cards)
        self._observer.study_started(
            len(self._cells), len(self._cells.keys() & published)
        )
        if others:
            self._observer.notice(
                f"cells published by another version of mlagentbench: {others};"
                " --again repeats them"
            )
        return [cell for cell in self._cells if cell not in published]

    def _submit_free(self, cells: Iterable[str]) -> None:
        """Submit cells, except those that other processes run or will start."""
        cells = list(cells)
        taken = self._taken(cells)
        self._elsewhere |= taken
        self._submit(cell for cell in cells if cell not in taken)

    def _taken(self, cells: Iterable[str]) -> set[str]:
        """Return those of the cells that are queued, or leased by a live process."""
        wanted = set(cells)
        found = read_cells(self._store, [self._cells[cell] for cell in wanted], set())
        for status in found:
            self._note_cost(status.cell, status.cost_usd)
        live = {one.cell for one in found if one.state is CellState.RUNNING}
        return live | (wanted & self._executor.queued() - self._submitted)

    def _note_cost(self, cell: str, cost: float) -> None:
        self._costs[cell] = max(self._costs.get(cell, 0.0), cost)

    def _submit(self, cells: Iterable[str]) -> None:
        if self._stopped is not None:
            return
        requests = [
            CellRequest(
                cell=self._cells[cell],
                store=self._store.address,
                study=self._study,
                keep=self._options.keep,
                connections=dict(self._options.connections),
                copy_seconds=self._options.copy_seconds,
            )
            for cell in cells
        ]
        self._submitted |= {request.cell.id for request in requests}
        self._executor.submit(requests)

    def _follow(self) -> None:
        """Handle events until no cell is left to wait for."""
        while self._submitted or (self._elsewhere and self._stopped is None):
            if self._interrupted and not self._is_stopping:
                self._stop("interrupted", running=True)
            self._check_limits()
            for event in self._executor.watch(_WATCH_SECONDS):
                self._handle(event)
            if time.monotonic() - self._looked >= _LOOK_SECONDS:
                self._looked = time.monotonic()
                self._check_cancelled()
                self._look()

    def _handle(self, event: CellEvent) -> None:
        cell = event.cell
        self._note_cost(cell, event.cost_usd)
        if event.kind == "ended":
            self._submitted.discard(cell)
            # The job of another driver is watched too, if the engine can find it.
            self._elsewhere.discard(cell)
            match event.outcome:
                case Outcome.PUBLISHED:
                    self._fetch(cell)
                case Outcome.HELD:
                    self._elsewhere.add(cell)
                case Outcome.FAILED:
                    self._failed[cell] = event.reason
                case _:
                    self._submit_lost(cell, event.reason)
        self._observer.cell_changed(event)

    def _fetch(self, cell: str) -> None:
        """Publish a bundle that the cell could not publish itself."""
        folder = self._executor.fetch(cell)
        if folder is not None:
            self._store.publish(cell, folder)
            self._store.delete(f"work/{cell}/")

    def _submit_lost(self, cell: str, reason: str) -> None:
        # Cells may see that the study was cancelled before this process does.
        self._check_cancelled()
        if self._stopped is not None:
            return
        self._losses[cell] += 1
        if self._losses[cell] > _MOST_LOSSES:
            self._failed[cell] = f"lost {self._losses[cell]} times: {reason}"
            return
        self._submit([cell])

    def _look(self) -> None:
        """Look at the cells that other processes run."""
        if not self._elsewhere:
            return
        for cell in self._elsewhere & self._store.published():
            self._elsewhere.discard(cell)
            self._observer.cell_changed(
                CellEvent(cell=cell, kind="ended", outcome=Outcome.PUBLISHED)
            )
        free = self._elsewhere - self._taken(self._elsewhere)
        self._elsewhere -= free
        self._submit(free)

    def _check_cancelled(self) -> None:
        cancelled = self._store.read("cancel.json")
        if cancelled is None or self._is_stopping:
            return
        running = bool(_document(cancelled).get("running"))
        if running or self._stopped is None:
            self._stop("the study was cancelled", running=running)

    def _check_limits(self) -> None:
        if self._stopped is not None:
            return
        hours, most = self._options.total.hours, self._options.total.cost_usd
        spent = sum(self._costs.values())
        if hours is not None and time.monotonic() - self._started >= hours * 3600:
            self._stop(f"the study has run for --max-total-hours {hours:g}")
        elif most is not None and spent >= most:
            self._stop(
                f"the study has cost ${spent:,.2f}, and --max-total-cost is"
                f" ${most:,.2f}"
            )

    def _stop(self, reason: str, *, running: bool = False) -> None:
        """Start no more cells, and with `running` end those that run."""
        self._stopped = reason
        self._is_stopping = running
        self._observer.notice(f"no more cells start: {reason}")
        self._executor.cancel(running=running)


def _document(text: str | bytes) -> dict[str, Any]:
    """Return a JSON object; a damaged one is empty."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
