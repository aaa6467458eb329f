"""The interface of executors, which run cells: local processes, Ray or Slurm.

An executor starts processes and reports how they end. It decides nothing: leases keep
a cell from running twice, and the store says which cells are published.
"""

from collections.abc import Sequence
from enum import StrEnum, auto
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from mlagentbench.core import Record
from mlagentbench.study.cell import Cell

Engine = Literal["local", "ray", "slurm"]
"""Who starts the processes of cells."""

Keep = Literal["submission", "best", "all"]
"""The snapshots that a bundle keeps."""


class CellRequest(Record):
    """All that a process needs to run one cell."""

    cell: Cell
    store: str
    """The study's folder, or the address of its object store."""
    study: str
    """The id of the study, which its store holds too."""
    keep: Keep = "best"
    connections: dict[str, int] = Field(default_factory=dict)
    """The most requests at a time over all cells, by provider or model. A cell asks its
    parent process before each request to one of them."""
    copy_seconds: float = 30.0
    """Least time between two copies of a running cell's records to the store."""


class Outcome(StrEnum):
    """How the process of a cell ended."""

    PUBLISHED = auto()
    """Its bundle is in the store, or in the hands of the executor (`fetch`)."""
    HELD = auto()
    """Another process holds the lease of the cell."""
    FAILED = auto()
    """The run ended without a result that counts; the reason says why."""
    INTERRUPTED = auto()
    """It was asked to stop, and stopped; the next process resumes it."""
    LOST = auto()
    """The process or its node died; the next process resumes it."""


class CellEvent(Record):
    """News of one cell."""

    cell: str
    """Its id."""
    kind: Literal["started", "step", "ended"]
    place: str = ""
    """Where it runs, in words for `mlab status`; never part of a bundle."""
    steps: int = 0
    cost_usd: float = 0.0
    outcome: Outcome | None = None
    """Of an ended cell."""
    reason: str = ""


class Executor(Protocol):
    """Runs the processes of cells.

    Every submitted cell ends with exactly one `ended` event. Cells that `cancel`
    removed or stopped end with `Outcome.INTERRUPTED`.
    """

    def submit(self, requests: Sequence[CellRequest]) -> None:
        """Queue cells; each starts as soon as its resources are free."""

    def watch(self, seconds: float) -> list[CellEvent]:
        """Return new events; wait at most `seconds` for the first one."""

    def queued(self) -> set[str]:
        """Return the ids of cells that the engine will still start.

        Also those that another driver submitted, if the engine outlives drivers.
        """

    def cancel(self, *, running: bool) -> None:
        """Remove queued cells, and with `running` stop those that run."""

    def fetch(self, cell: str) -> Path | None:
        """Return the folder of a bundle that the cell could not publish itself.

        None if the cell has written to the store.
        """

    def close(self) -> None:
        """Give up what the executor holds; cells that run are stopped first."""
