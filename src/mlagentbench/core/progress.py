"""How long work reports how far it is; the command line draws the bar."""

from typing import Protocol

from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step


class Progress(Protocol):
    """Told about one piece of work after another."""

    def start(self, label: str, total: int | None) -> None:
        """Begin the next piece; `total` is its size, None where nobody knows it."""
        ...

    def advance(self, amount: int) -> None:
        """Report that `amount` more of the present piece is done."""
        ...


class Silent:
    """A progress that nobody watches."""

    def start(self, label: str, total: int | None) -> None:
        """Say nothing."""

    def advance(self, amount: int) -> None:
        """Say nothing."""


class RunObserver(Protocol):
    """Is told what happens in runs while it happens."""

    def run_started(self, run: RunId, task: Task) -> None:
        """A run begins."""
        ...

    def step_taken(self, run: RunId, step: Step) -> None:
        """A run's step was recorded."""
        ...

    def run_ended(self, run: RunId, ending: str) -> None:
        """A run is over and about to be judged."""
        ...


class NullObserver:
    """An audience that does not listen."""

    def run_started(self, run: RunId, task: Task) -> None:
        """Ignore it."""

    def step_taken(self, run: RunId, step: Step) -> None:
        """Ignore it."""

    def run_ended(self, run: RunId, ending: str) -> None:
        """Ignore it."""
