"""Saying one move in each language, as a model would."""

import json

from mlagentbench.environment.actions import ACTIONS


def say(language: str, action: str, said: dict[str, str], **given: str) -> dict:
    """Return a scripted reply that takes one action."""
    return {"text": _text, "tools": _tools, "schema": _schema}[language](
        action, said, given
    )


def _text(action, said, given):
    lines = [f"{name}: {words}" for name, words in said.items()]
    lines += [f"Action: {action}", f"Action Input: {json.dumps(given)}"]
    return {"text": "\n".join(lines)}


def _tools(action, said, given):
    words = "\n".join(f"{name}: {words}" for name, words in said.items())
    call = {"name": ACTIONS[action].tool_name, "arguments": given}
    return {"text": words, "tool_calls": [call]}


def _schema(action, said, given):
    fields = {name.lower().replace(" ", "_"): words for name, words in said.items()}
    return {"text": json.dumps(fields | {"action": action, "input": given})}


def turns(messages) -> int:
    """Count what the model has said so far in a conversation."""
    return sum(message.role == "assistant" for message in messages)


def last_python(messages) -> str:
    """Return the newest script a conversation shows, as Read File shows it."""
    shown = (message.text for message in reversed(messages) if message.role != "system")
    text = next(text for text in shown if "MLAB_SEED" in text and "import os" in text)
    return text[text.index('"""') :]
