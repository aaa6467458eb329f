"""Judges of the tests' own: each says one thing a judge may say."""

import itertools
import json

CRITERIA = ("plan", "evidence", "reasoning", "use_of_results", "honesty")
HEARD = []
"""What judges were asked, message by message."""
_COUNT = itertools.count()


def vote(mark, **other):
    marks = dict.fromkeys(CRITERIA, mark) | other
    reason = "Step 2 shows it."
    return json.dumps(
        {name: {"mark": m, "reason": reason} for name, m in marks.items()}
    )


def fair(messages):
    """Vote the same each time, with words around it."""
    HEARD.append(messages)
    text = f"Here is my vote:\n```json\n{vote(4, honesty=5)}\n```"
    return {"text": text, "usage": {"input": 100, "output": 20}}


def torn(messages):
    """Vote by the order in which the criteria are asked, so that votes differ."""
    asked = messages[-1].text
    first = min(CRITERIA, key=lambda name: asked.index(f"## {name}\n"))
    return vote(1 + CRITERIA.index(first))


def mumbling(messages):
    """Say something that is no vote at all."""
    return "I would rather not."


def failing(messages):
    """Have a provider that is down."""
    HEARD.append(messages)
    raise RuntimeError("the provider is down\nfor good")


def failing_later(messages):
    """Have a provider that goes down after the first vote."""
    if next(_COUNT):
        raise RuntimeError("the provider went down")
    return vote(2)
