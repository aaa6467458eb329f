"""A live line per run: step, action, elapsed time, best validation so far."""

import time
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.table import Table
from rich.text import Text

from mlagentbench.cli.console import err
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step
from mlagentbench.run.order import Audience


class Line:
    """What is known of one run while it goes on."""

    def __init__(self, task: Task) -> None:
        self._sign = task.direction.sign
        self._metric = task.metric
        self._steps = task.budget.steps
        self._clock = time.monotonic()
        self._step = 0
        self._best: float | None = None
        self.now = "starting"

    def take(self, step: Step) -> None:
        """Note a step."""
        self._step = step.step
        self.now = step.action if step.ok else f"{step.action} (failed)"
        if step.validation is None:
            return
        value = step.validation.value
        if self._best is None or self._sign * value > self._sign * self._best:
            self._best = value

    def cells(self) -> list[str]:
        """Return what to show, column by column."""
        best = "-" if self._best is None else f"{self._metric} {self._best:.6g}"
        elapsed = int(time.monotonic() - self._clock)
        clock = f"{elapsed // 60}:{elapsed % 60:02d}"
        return [f"step {self._step}/{self._steps}", self.now, clock, f"best {best}"]


class LiveLines(Audience):
    """Shows every run that goes on; in a pipe, one plain line per step."""

    def __init__(self) -> None:
        self._console = err()
        self._lines: dict[RunId, Line] = {}
        self._live = Live(
            get_renderable=self._table, console=self._console, refresh_per_second=4
        )

    def run_started(self, run: RunId, task: Task) -> None:
        """Open a line."""
        self._lines[run] = Line(task)

    def step_taken(self, run: RunId, step: Step) -> None:
        """Bring a line up to date."""
        self._lines[run].take(step)
        if not self._console.is_terminal:
            self._console.print("  ".join([str(run), *self._lines[run].cells()]))

    def run_ended(self, run: RunId, ending: str) -> None:
        """Say that a run is over."""
        self._lines[run].now = ending.replace("_", " ")

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for run, line in self._lines.items():
            # Text, not markup: an outside agent's name may hold brackets.
            table.add_row(*(Text(cell) for cell in [str(run), *line.cells()]))
        return table
