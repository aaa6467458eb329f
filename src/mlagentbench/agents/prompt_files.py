"""The agents' prompts: markdown files, with `$names` to be filled in."""

from pathlib import Path

from mlagentbench.environment.prompts import filled

_FOLDER = Path(__file__).parent / "prompts"


def prompt(name: str, /, **parts: str) -> str:
    """Return an agent's prompt with its parts filled in."""
    return filled(_FOLDER / f"{name}.md", **parts).strip()
