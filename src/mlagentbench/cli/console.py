"""Output of commands, and the live display of runs."""

import json
import time
from typing import TYPE_CHECKING, Any, Self

import click
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from mlagentbench.core import RunId, Step, Task, Trace

if TYPE_CHECKING:
    from rich.progress import TaskID

    from mlagentbench.experiment import Experiment


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False)


def err() -> Console:
    """Return the console for progress and notices."""
    return Console(stderr=True, highlight=False)


def print_json(document: Any) -> None:  # noqa: ANN401  # any JSON document
    """Print one JSON document and nothing else."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print rows for a person: boxed on a terminal, tab-separated in a pipe."""
    console = out()
    if not console.is_terminal:
        for row in [columns, *rows]:
            click.echo("\t".join(row))
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        # Names of agents and files are no markup, whatever brackets they have.
        table.add_row(*map(Text, row))
    console.print(table)


class RunLine:
    """One run in the live display; a resumed one continues where it was."""

    def __init__(self, task: Task, past: Trace | None = None) -> None:
        self._sign = task.direction.sign
        self._metric = task.metric
        self._steps = task.budget.steps
        self._clock = time.monotonic() - (past.seconds if past else 0.0)
        self._seconds: float | None = None
        self._step = 0
        self._best: float | None = None
        for step in past.steps if past else ():
            self.take(step)
        self._now = "resuming" if self._step else "starting"

    def take(self, step: Step) -> None:
        self._step = step.step
        self._now = step.action if step.ok else f"{step.action} (failed)"
        if step.validation is None:
            return
        value = step.validation.value
        if self._best is None or self._sign * value > self._sign * self._best:
            self._best = value

    def end(self, ending: str) -> None:
        self._now = ending.replace("_", " ")
        self._seconds = time.monotonic() - self._clock

    def cells(self) -> list[str]:
        best = "-" if self._best is None else f"{self._metric} {self._best:.6g}"
        seconds = int(self._seconds or time.monotonic() - self._clock)
        clock = f"{seconds // 60}:{seconds % 60:02d}"
        return [f"step {self._step}/{self._steps}", self._now, clock, f"best {best}"]


class Screen:
    """Display of preparation and of runs; plain lines in a pipe.

    The runs of `resumed` continue with the steps, the time and the best score that
    their traces hold.
    """

    def __init__(self, resumed: "Experiment | None" = None) -> None:
        # Imported here, because most commands show no progress.
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = err()
        self._resumed = resumed
        self._lines: dict[RunId, RunLine] = {}
        description = TextColumn("{task.description}", markup=False)
        self._bar = Progress(description, BarColumn(), TimeElapsedColumn())
        self._piece: TaskID | None = None
        self._live = Live(
            get_renderable=self._shown, console=self._console, refresh_per_second=4
        )

    def start(self, label: str, total: int | None) -> None:
        self._clear_bar()
        self._piece = self._bar.add_task(label, total=total)
        self._print(label)

    def advance(self, amount: int) -> None:
        if self._piece is not None:
            self._bar.advance(self._piece, amount)

    def run_started(self, run: RunId, task: Task) -> None:
        self._clear_bar()
        past = None if self._resumed is None else self._resumed.trace(run)
        self._lines[run] = RunLine(task, past)

    def step_taken(self, run: RunId, step: Step) -> None:
        self._lines[run].take(step)
        self._print("  ".join([str(run), *self._lines[run].cells()]))

    def run_ended(self, run: RunId, ending: str) -> None:
        self._lines[run].end(ending)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._clear_bar()
        if self._console.is_terminal:
            self._live.stop()

    def _clear_bar(self) -> None:
        if self._piece is not None:
            self._bar.remove_task(self._piece)
            self._piece = None

    def _print(self, text: str) -> None:
        if not self._console.is_terminal:
            self._console.print(text, markup=False, soft_wrap=True)

    def _shown(self) -> Group:
        runs = Table.grid(padding=(0, 2))
        for run, line in self._lines.items():
            # Text, not markup: an outside agent's name may hold brackets.
            runs.add_row(*(Text(cell) for cell in [str(run), *line.cells()]))
        return Group(runs) if self._piece is None else Group(runs, self._bar)
