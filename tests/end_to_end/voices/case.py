"""One agent in one of its forms, and the voice of the model it thinks with."""

import re
from dataclasses import dataclass, field

BETTER = {"TREES": "80", "LEARNING_RATE": "0.1", "MAX_DEPTH": "4"}
"""Constants of the starters with which they do clearly better."""


@dataclass(frozen=True)
class Case:
    """An agent with its settings, and `module:function` of what its model says."""

    agent: str
    voice: str
    settings: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.agent}[{settings}]" if settings else self.agent


def improved(script: str) -> str:
    """Return a starter's script with better constants."""
    for name, value in BETTER.items():
        script = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", script)
    return script
