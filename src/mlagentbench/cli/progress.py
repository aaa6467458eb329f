"""Progress of long work: a bar on a terminal, a line per piece elsewhere."""

from types import TracebackType
from typing import Self

from rich import progress as rich_progress

from mlagentbench.cli.console import err


class Bar:
    """Draws what `tasks` reports about downloads and builds."""

    def __init__(self) -> None:
        self._console = err()
        self._bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._current: rich_progress.TaskID | None = None

    def start(self, label: str, total: int | None) -> None:
        """Begin the next piece of work."""
        if self._current is not None:
            self._bar.remove_task(self._current)
        if not self._console.is_terminal:
            self._console.print(label)
        self._current = self._bar.add_task(label, total=total)

    def advance(self, amount: int) -> None:
        """Report that `amount` more is done."""
        if self._current is not None:
            self._bar.advance(self._current, amount)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
