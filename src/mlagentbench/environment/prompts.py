"""Prompts: our words, with the words of others fenced off in them."""

import re
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent / "actions" / "prompts"
_TICKS = re.compile(r"`+")
# Half characters and control bytes make some providers refuse a whole request.
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


def prompt(name: str, /, **parts: str) -> str:
    """Return an action's prompt with its parts filled in."""
    return filled(_FOLDER / f"{name}.md", **parts)


def filled(file: Path, /, **parts: str) -> str:
    """Return a prompt with its `$parts` filled in, which are not read again."""
    template = Template(file.read_text(encoding="utf-8"))
    return template.substitute({key: sendable(text) for key, text in parts.items()})


def fenced(text: str) -> str:
    """Put a text between fences that nothing in it can be taken for."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}text\n{text}{end}{fence}"


def sendable(text: str) -> str:
    """Replace what cannot be sent or stored, one character for one."""
    return _UNSENDABLE.sub("\ufffd", text)
