"""Consoles and tables of commands, and the live display of runs."""

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from mlagentbench.cli.output import one_line, say
from mlagentbench.core import first_lines, harmless
from mlagentbench.report import with_unit

if TYPE_CHECKING:
    from rich.progress import TaskID

    from mlagentbench.core import RunId, Step, Task, Trace
    from mlagentbench.experiment import Experiment
    from mlagentbench.report import StatusTable
    from mlagentbench.study import CellEvent


class CleanConsole(Console):
    """A console whose own styling is the only source of control characters.

    Everything that Rich shows, a live display too, is rendered to segments here.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401  # Rich's
        """Print texts as they are: brackets in them are no markup."""
        super().print(*objects, **({"markup": False} | options))


def out() -> Console:
    """Return the console for results."""
    return _console(stderr=False)


def err() -> Console:
    """Return the console for progress and notices."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = CleanConsole(stderr=stderr, highlight=False)
    # Lines are wrapped for a person at a terminal, never in a pipe or file.
    console.soft_wrap = not console.is_terminal
    return console


def print_heading(console: Console, text: str) -> None:
    """Print a heading in a rule; as a plain line if it is too long or piped."""
    if console.is_terminal and cell_len(text) + 4 <= console.width:
        console.rule(Text(text))
    else:
        console.print(text, markup=False, soft_wrap=True)


_PROSE_WIDTH = 12
"""Characters that a wrapped column keeps on a narrow terminal."""


def print_table(
    columns: list[str],
    rows: list[list[str]],
    *,
    prose: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> None:
    """Print rows: aligned on a terminal, tab-separated in a pipe.

    Only the columns in `prose`, by default the last one, are wrapped to fit the
    terminal. Those in `optional` are left out if they do not fit. Other cells, such
    as ids, stay on one line even if the table is wider than the terminal.
    """
    console = out()
    rows = [list(map(one_line, row)) for row in rows]
    if not console.is_terminal:
        for row in [columns, *rows]:
            say("\t".join(row))
        return
    widths: list[int] = []
    for number, name in enumerate(columns):
        cells = [*name.split(), *(row[number] for row in rows)]
        is_prose = name in (prose or columns[-1:])
        widths.append(min(max(map(cell_len, cells)), _PROSE_WIDTH if is_prose else 999))
    fits = sum(widths) + 2 * len(widths) - 2 <= console.width
    shown = [n for n, name in enumerate(columns) if fits or name not in optional]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number in shown:
        table.add_column(columns[number], min_width=widths[number], overflow="fold")
    for row in rows:
        # Text, not markup: names of agents and files may hold brackets.
        table.add_row(*(Text(row[number]) for number in shown))
    console.print(table, crop=False)
    if optional and not fits:
        say(f"A wider terminal also shows: {', '.join(optional)}")


def print_status(table: "StatusTable") -> None:
    """Print a table of a status, unless it is empty."""
    if not table.rows:
        return
    if table.title:
        say(f"{table.title}:")
    print_table(table.columns, table.rows, prose=table.prose, optional=table.optional)


class RunLine:
    """One run in the live display; a resumed one continues where it was."""

    def __init__(self, task: "Task", past: "Trace | None" = None) -> None:
        self._sign = task.direction.sign
        self._metric = task.metric
        self._unit = task.unit
        self._steps = task.budget.steps
        self._clock = time.monotonic() - (min(past.seconds, 1e9) if past else 0.0)
        self._seconds: float | None = None
        self._step = 0
        self._best: float | None = None
        for step in past.steps if past else ():
            self.take(step)
        self._now = "resuming" if self._step else "starting"

    def take(self, step: "Step") -> None:
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
        best = "-" if self._best is None else with_unit(self._best, self._unit)
        seconds = int(self._seconds or time.monotonic() - self._clock)
        return [
            f"step {self._step}/{self._steps}",
            self._now,
            f"{seconds // 60}:{seconds % 60:02d}",
            f"best validation {self._metric} {best}",
        ]


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
        self._piece = self._bar.add_task(one_line(label), total=total)
        self._print(label)

    def advance(self, amount: int) -> None:
        if self._piece is not None:
            self._bar.advance(self._piece, amount)

    def run_started(self, run: "RunId", task: "Task") -> None:
        self._clear_bar()
        past = None if self._resumed is None else self._resumed.trace(run)
        self._lines[run] = RunLine(task, past)

    def step_taken(self, run: "RunId", step: "Step") -> None:
        self._lines[run].take(step)
        self._print("  ".join([str(run), *self._lines[run].cells()]))

    def run_ended(self, run: "RunId", ending: str) -> None:
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
        rows = [
            list(map(one_line, [str(run), *line.cells()]))
            for run, line in self._lines.items()
        ]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        runs = Table.grid(padding=(0, 2))
        for name, *cells in rows:
            # Text, not markup: an outside agent's name may hold brackets.
            if sum(widths) + 2 * len(widths) <= self._console.width:
                runs.add_row(*map(Text, [name, *cells]))
            else:
                runs.add_row(Text(f"{name}\n  {'  '.join(cells)}", overflow="fold"))
        return Group(runs) if self._piece is None else Group(runs, self._bar)


class StudyScreen:
    """Display of a study: cells done, and those that run; plain lines in a pipe."""

    def __init__(self) -> None:
        from rich.live import Live

        self._console = err()
        self._cells = 0
        self._done = 0
        self._failed = 0
        self._running: dict[str, CellEvent] = {}
        self._live = Live(
            get_renderable=self._shown, console=self._console, refresh_per_second=4
        )

    def study_started(self, cells: int, published: int) -> None:
        self._cells, self._done = cells, published
        self._print(self._summary())

    def cell_changed(self, event: "CellEvent") -> None:
        if event.kind != "ended":
            self._running[event.cell] = event
            if event.kind == "started":
                self._print(f"{event.cell}  started on {event.place}")
            return
        self._running.pop(event.cell, None)
        self._done += event.outcome == "published"
        self._failed += event.outcome == "failed"
        reason = first_lines(event.reason, lines=1, characters=300)
        words = f"{event.cell}  {event.outcome}{f': {reason}' if reason else ''}"
        if event.outcome == "published":
            words = f"{event.cell}  published  {self._summary()}"
        if event.outcome != "held":
            # Above the live display, if there is one.
            self._console.print(words, soft_wrap=True)

    def notice(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def _print(self, text: str) -> None:
        if not self._console.is_terminal:
            self._console.print(text, markup=False, soft_wrap=True)

    def _summary(self) -> str:
        parts = [f"{self._done} of {self._cells} cells done"]
        if self._running:
            parts.append(f"{len(self._running)} running")
        if self._failed:
            parts.append(f"{self._failed} failed")
        return ", ".join(parts)

    def _shown(self) -> Group:
        rows = Table.grid(padding=(0, 2))
        shown = list(self._running.values())[: max(1, self._console.height - 4)]
        for event in shown:
            cost = f"${event.cost_usd:,.2f}" if event.cost_usd else ""
            cells = [event.cell, event.place, f"step {event.steps}", cost]
            rows.add_row(*map(Text, map(one_line, cells)))
        return Group(rows, Text(self._summary()))
