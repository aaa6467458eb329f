"""Prompt templates, filled safely; the code block of a reply."""

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from mlagentbench.core import lines_of, sendable

_FOLDER = Path(__file__).parent / "actions" / "prompts"
_TICKS = re.compile(r"`+")


def prompt(name: str, /, **parts: str) -> str:
    return filled(_FOLDER / f"{name}.md", **parts)


def filled(file: Path, /, **parts: str) -> str:
    """Return a prompt with its `$parts` filled in; parts are not expanded again."""
    template = Template(file.read_text(encoding="utf-8"))
    return template.substitute({key: sendable(text) for key, text in parts.items()})


def fenced(text: str) -> str:
    """Put a text between fences that do not occur in it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}text\n{text}{end}{fence}"


_PYTHON = {"python", "python3", "py"}
_DEEPEST_FENCE = 3
"""Columns a fence may be indented; deeper ones are text, as in markdown."""


class NoCodeError(ValueError):
    """A reply holds no usable script; the text gives the reason."""


@dataclass(frozen=True)
class _Fence:
    ticks: int
    language: str


def python_block(reply: str) -> str:
    """Return the text of the only Python block, which must be complete."""
    found: list[str] = []
    opened: _Fence | None = None
    inside: list[str] = []
    for line in lines_of(reply):
        fence = _fence(line)
        if fence is None:
            inside.append(line)
        elif opened is None:
            # Such a fence may have truncated the script before it.
            if found and not fence.language:
                raise NoCodeError(
                    "it has a line of backticks inside or after the python block"
                )
            opened, inside = fence, []
        elif not fence.language and fence.ticks >= opened.ticks:
            if opened.language in _PYTHON:
                found.append("".join(inside))
            opened = None
        else:
            inside.append(line)
    if opened is not None:
        raise NoCodeError("it ends inside a code block that is never closed")
    if not found:
        raise NoCodeError("it has no code block that begins with ```python")
    if len(found) > 1:
        raise NoCodeError("it has more than one python code block")
    return found[0]


def _fence(line: str) -> _Fence | None:
    stripped = line.strip()
    info = stripped.lstrip("`")
    ticks = len(stripped) - len(info)
    depth = len(line) - len(line.lstrip())
    if ticks < 3 or "`" in info or depth > _DEEPEST_FENCE:
        return None
    return _Fence(ticks, info.strip().partition(" ")[0].lower())
