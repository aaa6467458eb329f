"""Small studies on the quick task."""

import json
import time
import uuid
from pathlib import Path

from tests.support.quick_task import QUICK_TASK

from mlagentbench.experiment.plan import BudgetOverride
from mlagentbench.study.cell import Cell
from mlagentbench.study.driver import Driver, DriverOptions
from mlagentbench.study.executor import CellEvent
from mlagentbench.study.local_executor import LocalExecutor
from mlagentbench.study.store import FolderStore
from mlagentbench.tasks.load import load_task


def quick_cell(seed: int = 0, agent: str = "starter", **fields) -> Cell:
    """Return a cell of the quick task."""
    task = load_task(str(QUICK_TASK))
    return Cell(
        task=str(QUICK_TASK),
        task_name=task.name,
        task_digest=task.digest,
        agent=agent,
        seed=seed,
        **fields,
    )


def tuner_cell(seed: int = 0, steps: int = 6) -> Cell:
    return quick_cell(seed, "tuner", budget=BudgetOverride(steps=steps))


def new_store(folder: Path) -> FolderStore:
    """Make a study without a plan."""
    store = FolderStore(folder)
    about = {"id": uuid.uuid4().hex, "name": "small", "created": "2026-11-18T00:00:00"}
    store.create("study.json", json.dumps(about).encode())
    return store


def scorecards(store: FolderStore) -> dict[str, dict]:
    """Return the last scorecard of each published cell."""
    return {
        cell: json.loads(summary.scorecards.splitlines()[-1])
        for cell, summary in store.summaries(store.published())
    }


class Watcher:
    """An observer that keeps everything, and calls a function at each step."""

    def __init__(self, at_step=lambda event: None) -> None:
        self.events: list[CellEvent] = []
        self.notices: list[str] = []
        self.started = None
        self._at_step = at_step

    def study_started(self, cells: int, published: int) -> None:
        self.started = (cells, published)

    def cell_changed(self, event: CellEvent) -> None:
        self.events.append(event)
        if event.kind == "step":
            self._at_step(event)

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def starts(self) -> list[str]:
        """The cells in the order in which their runs started."""
        return [event.cell for event in self.events if event.kind == "started"]


def run_cells(store, cells, watcher=None, parallel=2, machine=None, **options):
    """Run cells in processes of this machine."""
    connections = options.get("connections")
    executor = LocalExecutor(parallel, connections=connections, machine=machine)
    options.setdefault("copy_seconds", 0.0)
    chosen = DriverOptions(**options)
    return Driver(store, cells, executor, chosen, watcher).run()


def process_of(event: CellEvent) -> int:
    return int(event.place.rpartition(" ")[2])


def wait_for_copied_steps(store: FolderStore, cell: str, steps: int) -> None:
    """Wait until the store has so many steps of a running cell."""
    while True:
        prefix = f"progress/{cell}/trace/"
        traces = [store.read(name) or b"" for name in store.names(prefix)]
        if any(trace.count(b'"kind":"step"') >= steps for trace in traces):
            return
        time.sleep(0.05)
