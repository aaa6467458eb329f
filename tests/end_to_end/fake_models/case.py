"""An agent in one of its forms, the fake model it uses, and parts of model replies."""

import json
import re
from dataclasses import dataclass, field

from mlagentbench.environment.actions import ACTIONS

BETTER = {"TREES": "80", "LEARNING_RATE": "0.1", "MAX_DEPTH": "4"}
"""Constants with which the starters score clearly better."""
PROTOCOLS = ("text", "tools", "schema")


@dataclass(frozen=True)
class Case:
    """An agent with its settings, and `module:function` of its fake model."""

    agent: str
    model: str
    settings: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.agent}[{settings}]" if settings else self.agent


def improved(script: str) -> str:
    """Return a starter's script with better constants."""
    for name, value in BETTER.items():
        script = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", script)
    return script


def reply(protocol: str, action: str, fields: dict[str, str], **given: str) -> dict:
    """Return a scripted reply that requests one action."""
    lines = [f"{name}: {text}" for name, text in fields.items()]
    if protocol == "text":
        lines += [f"Action: {action}", f"Action Input: {json.dumps(given)}"]
        return {"text": "\n".join(lines)}
    if protocol == "tools":
        call = {"name": ACTIONS[action].tool_name, "arguments": given}
        return {"text": "\n".join(lines), "tool_calls": [call]}
    keys = {name.lower().replace(" ", "_"): text for name, text in fields.items()}
    return {"text": json.dumps(keys | {"action": action, "input": given})}


def turns(messages) -> int:
    """Count the model's replies in a conversation."""
    return sum(message.role == "assistant" for message in messages)


def last_python(messages) -> str:
    """Return the newest script in a conversation, as Read File shows it."""
    shown = (message.text for message in reversed(messages) if message.role != "system")
    text = next(text for text in shown if "MLAB_SEED" in text and "import os" in text)
    return text[text.index('"""') :]
