"""Ideas any practitioner would try, one list per modality, the same for every task.

They were written before any study and name no task and no column. Whether an agent was
given them is a setting, and is reported with its results.
"""

from collections.abc import Mapping
from pathlib import Path

from mlagentbench.agents.settings import read_choice

_FOLDER = Path(__file__).parent / "ideas"


def read_ideas(settings: Mapping[str, str], modality: str) -> tuple[str, ...]:
    """Read `-A ideas=off|generic`, and return the ideas where they are wanted."""
    chosen = read_choice(settings, "ideas", ("off", "generic"), "off")
    return tuple(ideas_for(modality)) if chosen == "generic" else ()


def ideas_for(modality: str) -> list[str]:
    """Return the ideas for a modality, in the order in which they are tried."""
    path = _FOLDER / f"{modality.replace(' ', '_')}.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]
