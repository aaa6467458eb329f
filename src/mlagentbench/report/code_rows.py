"""What a run made of the starter's code, as the page writes it."""

from typing import Literal

from mlagentbench.core.record import Record
from mlagentbench.report.budgeting import fitted, written_size
from mlagentbench.report.diffs import CodeChanges, FileChange

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
