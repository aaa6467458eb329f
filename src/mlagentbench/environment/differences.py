"""What an edit changed, line by line, in bounded time whatever the lines are."""

import difflib
import re

from mlagentbench.environment.script_lines import lines_of

_CONTEXT = 3
_MOST_LINES = 1_500
"""Beyond that, comparing hostile lines takes minutes."""

_HUNK = re.compile(r"(?<=[-+])[0-9]+")


def difference(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return a unified diff; empty where every line is the same."""
    before, after = _lines(old), _lines(new)
    head = _in_common(before, after)
    tail = _in_common(before[head:][::-1], after[head:][::-1])
    skipped, dropped = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old_part = before[skipped : len(before) - dropped]
    new_part = after[skipped : len(after) - dropped]
    if max(len(old_part), len(new_part)) > _MOST_LINES:
        return _in_short(head, len(before) - tail, len(after) - head - tail)
    found = difflib.unified_diff(
        old_part, new_part, old_name, new_name, n=_CONTEXT, lineterm=""
    )
    return "\n".join(_moved(line, skipped) for line in found)


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in lines_of(text)]


def _in_common(one: list[str], other: list[str]) -> int:
    """Return how many lines both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    shorter = min(len(one), len(other))
    return next((number for number, (a, b) in pairs if a != b), shorter)


def _moved(line: str, skipped: int) -> str:
    """Count a hunk's lines from the beginning of the file."""
    if not line.startswith("@@"):
        return line
    return _HUNK.sub(lambda number: str(int(number[0]) + skipped), line)


def _in_short(head: int, last: int, count: int) -> str:
    return (
        f"Lines {head + 1} to {last} are now {count} other lines, too many to show;"
        " look at them with Inspect Script Lines."
    )
