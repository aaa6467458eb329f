"""Observers of long work and of runs; the command line draws them."""

from typing import Protocol

from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step


class Progress(Protocol):
    """A display of one piece of work after another."""

    def start(self, label: str, total: int | None) -> None:
        """Start the next piece; `total` is its size, None if it is unknown."""

    def advance(self, amount: int) -> None:
        """Add `amount` to the finished part of the current piece."""


class Silent:
    """A progress that shows nothing."""

    def start(self, label: str, total: int | None) -> None:
        """Ignore it."""

    def advance(self, amount: int) -> None:
        """Ignore it."""


class RunObserver(Protocol):
    """A receiver of events of runs as they happen."""

    def run_started(self, run: RunId, task: Task) -> None:
        """Receive the start of a run."""

    def step_taken(self, run: RunId, step: Step) -> None:
        """Receive a step that was recorded."""

    def run_ended(self, run: RunId, ending: str) -> None:
        """Receive the end of a run, which is graded next."""


class NullObserver:
    """An observer that ignores every event."""

    def run_started(self, run: RunId, task: Task) -> None:
        """Ignore it."""

    def step_taken(self, run: RunId, step: Step) -> None:
        """Ignore it."""

    def run_ended(self, run: RunId, ending: str) -> None:
        """Ignore it."""
