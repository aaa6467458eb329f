"""How each of the paper's agents goes about its work, and what can be changed in it."""

from dataclasses import dataclass

from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.choose import language_for
from mlagentbench.agents.languages.language import Language
from mlagentbench.agents.settings import read_choice, read_count

SHARED = ("protocol", "max_agent_steps", "steps_in_context", "observations_in_context")
"""Settings that all of the paper's agents have."""

_PROTOCOLS = ("text", "tools", "schema", "auto")
_AGENT_STEPS = 50
_IN_CONTEXT = 3


@dataclass(frozen=True)
class Habits:
    """What is the same for all of the paper's agents, and read from settings."""

    protocol: str
    """`text`, `tools` or `schema`."""
    language: Language
    most_steps: int
    """Of the agent's own, whatever the budget would allow."""
    steps: int
    """How many of the last steps the model is shown."""
    observations: int
    """How many of the last observations; older ones are only said to be done."""


def read_habits(context: Context, protocol: str) -> Habits:
    """Read the settings that all of the paper's agents have."""
    settings = context.settings
    chosen = read_choice(settings, "protocol", _PROTOCOLS, protocol)
    spoken = context.speech if chosen == "auto" else chosen
    return Habits(
        protocol=spoken,
        language=language_for(spoken, context.speech),
        most_steps=read_count(settings, "max_agent_steps", _AGENT_STEPS),
        steps=read_count(settings, "steps_in_context", _IN_CONTEXT),
        observations=read_count(settings, "observations_in_context", _IN_CONTEXT),
    )
