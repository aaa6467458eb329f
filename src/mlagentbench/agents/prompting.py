"""Prompts: markdown files beside the agents, with `$names` to be filled in."""

from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent / "prompts"


def prompt(name: str, **filled: str) -> str:
    """Return a prompt with its names filled in; what is filled in is not read again."""
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(filled).strip()
