"""What became of the starter's code."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mlagentbench.core.actions import WRITE_FILE, WRITING, given
from mlagentbench.core.record import Record
from mlagentbench.core.text import first_lines
from mlagentbench.core.trace import Step, Trace
from mlagentbench.report.data import CodeChanges, FileChange, code_changes
from mlagentbench.report.number_format import fitted, written_size

_FRAME = 130
"""A file's markup, in bytes."""
_LINE_FRAME = 12
_OTHERS_NAMED = 12

Side = Literal["added", "removed", "where", "same"]
_SIDES: dict[str, Side] = {"+": "added", "-": "removed", "@": "where"}


class DiffLine(Record):
    """One line of a diff; its first character says what it is, colour only helps."""

    side: Side
    text: str


class FileRow(Record):
    """One file's diff."""

    name: str
    about: str
    lines: tuple[DiffLine, ...]
    hidden: int
    """Lines there was no room for."""


class CodeRow(Record):
    """All that became different."""

    files: tuple[FileRow, ...]
    hidden_files: int
    others: str
    note: str


def code_row(changes: CodeChanges | None, *, room: int) -> CodeRow | None:
    """Write what became different, as far as there is room; None where unknown."""
    if changes is None:
        return None
    files: list[FileRow] = []
    for change in changes.files:
        if room < _FRAME:
            break
        row, used = _file_row(change, room)
        files.append(row)
        room -= used
    return CodeRow(
        files=tuple(files),
        hidden_files=len(changes.files) - len(files),
        others=_others(changes.others),
        note=fitted(changes.note, 300, lines=2),
    )


def _file_row(change: FileChange, room: int) -> tuple[FileRow, int]:
    lines: list[DiffLine] = []
    used = _FRAME
    for text in change.lines:
        used += written_size(text) + _LINE_FRAME
        if used > room:
            break
        lines.append(DiffLine(side=_SIDES.get(text[:1], "same"), text=text))
    row = FileRow(
        name=fitted(change.name, 200, lines=1),
        about=_about(change),
        lines=tuple(lines),
        hidden=len(change.lines) - len(lines),
    )
    return row, used


def _about(change: FileChange) -> str:
    return f"{change.kind}, +{change.added:,} -{change.removed:,} lines"


def _others(names: tuple[str, ...]) -> str:
    listed = ", ".join(fitted(name, 120, lines=1) for name in names[:_OTHERS_NAMED])
    more = len(names) - _OTHERS_NAMED
    return f"{listed}, and {more:,} more" if more > 0 else listed


_LONGEST = 200_000
_LINES_TOLD = 4


@dataclass(frozen=True)
class Edit:
    """One step that wrote a file; what it changed is worked out when asked for."""

    step: Step
    name: str
    before: str | None
    """What the file held, where that is known."""
    after: str | None
    """What it holds now, where the step wrote it whole."""

    def change(self) -> FileChange | None:
        """Compare what was written with what was there; None where that is unknown."""
        if self.before is None or self.after is None:
            return None
        if max(len(self.before), len(self.after)) > _LONGEST:
            return None
        changes = code_changes({self.name: self.before}, {self.name: self.after})
        same = FileChange(name=self.name, kind="changed", added=0, removed=0, lines=())
        return changes[0] if changes else same

    def told(self) -> str:
        """Say in a few words what was changed."""
        shown = first_lines(self.name, lines=1, characters=60)
        change = self.change()
        if change is not None:
            same = f"{shown} as before"
            return (
                _counts(shown, change.lines, change.removed) if change.lines else same
            )
        if self.after is not None:
            return f"{shown} written, {_counted(self.after)}"
        found = _from_diff(self.step.observation, shown)
        return found or f"{shown}: {_brief(self.step.action)}"


def edits(trace: Trace) -> dict[int, Edit]:
    """Follow the files a run writes; return its edits by their place in the trace."""
    texts: dict[str, str] = {}
    found: dict[int, Edit] = {}
    for place, step in enumerate(trace.steps):
        name = given(step, WRITING.get(step.action, ""))
        if not name or not step.ok:
            continue
        after = given(step, "content") if step.action == WRITE_FILE.name else None
        found[place] = Edit(step, name, texts.pop(name, None), after)
        if after is not None:
            texts[name] = after
    return found


def _from_diff(observation: str, shown: str) -> str:
    """Read the difference that an edit by a model is answered with."""
    _, found, diff = observation[:_LONGEST].partition("\n@@ ")
    if not found:
        return ""
    lines = diff.split("\n")[1:]
    return _counts(shown, lines, sum(line.startswith("-") for line in lines))


def _counts(shown: str, lines: Iterable[str], removed: int) -> str:
    added = [line[1:].strip() for line in lines if line.startswith("+")]
    text = "; ".join(_brief(line) for line in added[:_LINES_TOLD] if line)
    if not added and not removed:
        return f"{shown} as before"
    counts = f"{shown} +{len(added)} -{removed}"
    return f"{counts}: {text}" if text else counts


def _counted(content: str) -> str:
    lines = content.count("\n") + 1
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _brief(text: str) -> str:
    return first_lines(text, lines=1, characters=120)
