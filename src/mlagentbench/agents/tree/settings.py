"""The settings of the tree search."""

from collections.abc import Mapping
from dataclasses import dataclass

from mlagentbench.agents.ideas import read_ideas
from mlagentbench.agents.settings import read_number, refuse_unknown


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    ideas: tuple[str, ...]
    """Tried one after the other, again from the first when all were; may be none."""
    drafts: int
    """Solutions written anew before the best is improved."""
    debug: int
    """How often a script that fails is mended."""


def read_settings(given: Mapping[str, str], modality: str) -> Settings:
    """Read `-A ideas=off|generic`, `-A drafts=N` and `-A debug=N`."""
    refuse_unknown(given, ("ideas", "drafts", "debug"))
    return Settings(
        ideas=read_ideas(given, modality),
        drafts=read_number(given, "drafts", 0, least=0, most=20),
        debug=read_number(given, "debug", 1, least=0, most=5),
    )
