"""Lines to say as the paper's agents, and how to read what they are asked."""

import json
import re

ALL_FIELDS = ["Reflection", "Research Plan and Status", "Fact Check", "Thought"]
FORMAT = [*ALL_FIELDS, "Action", "Action Input"]
CLASSIC = {"style": "classic"}
TEXT = {"protocol": "text"}
AGENTS = {
    "act": ("act", TEXT),
    "react": ("react", TEXT),
    "research": ("research", CLASSIC),
}


def say(action="List Files", number=0, fields=ALL_FIELDS, **given):
    """Return a reply in fields of text; the number tells it from others."""
    if action == "List Files":
        given = {"dir_path": "."}
    said = [f"{name}: {name} number {number}" for name in fields]
    return "\n".join([*said, f"Action: {action}", f"Action Input: {json.dumps(given)}"])


def unreadable(number=0):
    """Return a reply whose Action Input is no JSON."""
    return say(number=number).replace('{"dir_path": "."}', "right here")


def told(messages):
    """Return all that a model is asked."""
    return "\n".join(message.text for message in messages)


def numbers(messages, field="Thought"):
    """Return which replies a prompt still shows."""
    return [int(n) for n in re.findall(rf"{field} number (\d+)", told(messages))]
