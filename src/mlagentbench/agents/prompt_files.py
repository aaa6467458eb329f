"""Markdown files that models read: the agents' prompts and lists of ideas."""

from pathlib import Path

from mlagentbench.environment import filled

_FOLDER = Path(__file__).parent


def prompt(name: str, /, **parts: str) -> str:
    """Return an agent's prompt with its `$names` filled in."""
    return filled(_FOLDER / "prompts" / f"{name}.md", **parts).strip()


def ideas_for(modality: str) -> tuple[str, ...]:
    """Return the ideas for a modality, in the order in which they are tried.

    They were written before any study and name no task and no column. Results
    with and without them are different results.
    """
    path = _FOLDER / "ideas" / f"{modality.replace(' ', '_')}.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return tuple(line.removeprefix("- ") for line in lines if line.startswith("- "))
