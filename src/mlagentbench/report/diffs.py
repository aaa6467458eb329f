"""What a run made of the starter's files, file by file."""

from collections.abc import Mapping
from typing import Literal

from mlagentbench.core.record import Record
from mlagentbench.environment.differences import difference

_LONGEST_DIFF = 60_000
_LONGEST_LINE = 500
"""Nobody reads on; and a line without end would hide the next one."""


class FileChange(Record):
    """One file that is not what the starter has."""

    name: str
    kind: Literal["changed", "new", "removed"]
    added: int
    removed: int
    lines: tuple[str, ...]
    """A unified diff without its first two lines, each line with its own sign."""


class CodeChanges(Record):
    """A run's last workspace beside the starter's files."""

    files: tuple[FileChange, ...] = ()
    others: tuple[str, ...] = ()
    """Files that are not compared, with the reason: data, outputs, what is too long."""
    note: str = ""
    """What a reader must know of it: where it was read, or why there is nothing."""


def code_changes(
    starter: Mapping[str, str], final: Mapping[str, str], *, whole: bool = True
) -> tuple[FileChange, ...]:
    """Compare texts by name; where `final` is not whole, what lacks is not removed."""
    names = [*starter, *(name for name in final if name not in starter)]
    changes = (
        _change(name, starter.get(name), final.get(name))
        for name in names
        if starter.get(name) != final.get(name) and (whole or name in final)
    )
    return tuple(one for one in changes if one.lines or one.kind != "changed")


def _change(name: str, before: str | None, after: str | None) -> FileChange:
    lines = _diff_lines(before or "", after or "")
    return FileChange(
        name=name,
        kind=_kind(before, after),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        lines=_kept(lines),
    )


def _kind(
    before: str | None, after: str | None
) -> Literal["changed", "new", "removed"]:
    if before is None:
        return "new"
    return "removed" if after is None else "changed"


def _diff_lines(before: str, after: str) -> list[str]:
    found = difference(before, after, "", "")
    if found and not found.startswith("--- "):
        return [f"  {len(before.split(chr(10)))} lines became others, too many to show"]
    return found.split("\n")[2:]


def _kept(lines: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    room = _LONGEST_DIFF
    for line in lines:
        room -= min(len(line), _LONGEST_LINE) + 1
        if room < 0:
            break
        kept.append(_cut(line))
    left = len(lines) - len(kept)
    return (*kept, f"  ... {left:,} more lines") if left else tuple(kept)


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    hidden = len(line) - _LONGEST_LINE
    return f"{line[:_LONGEST_LINE]} ... ({hidden:,} more characters)"
