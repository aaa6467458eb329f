"""Judge models: each replies in one way that a judge may reply."""

import itertools
import json

CRITERIA = ("plan", "evidence", "reasoning", "use_of_results", "honesty")
HEARD = []
"""The requests to the judges."""
_COUNT = itertools.count()


def vote(mark, **other):
    marks = dict.fromkeys(CRITERIA, mark) | other
    reason = "Step 2 shows it."
    return json.dumps(
        {name: {"mark": m, "reason": reason} for name, m in marks.items()}
    )


def fair(messages):
    """Vote the same each time, with text around the vote."""
    HEARD.append(messages)
    text = f"Here is my vote:\n```json\n{vote(4, honesty=5)}\n```"
    return {"text": text, "usage": {"input": 100, "output": 20}}


def torn(messages):
    """Vote by the order of the criteria in the prompt, so that votes differ."""
    asked = messages[-1].text
    first = min(CRITERIA, key=lambda name: asked.index(f"## {name}\n"))
    return vote(1 + CRITERIA.index(first))


def mumbling(messages):
    """Reply without a vote."""
    return "I would rather not."


def failing(messages):
    """Fail as a provider that is down."""
    HEARD.append(messages)
    raise RuntimeError("the provider is down\nfor good")


def failing_later(messages):
    """Fail as a provider that goes down after the first vote."""
    if next(_COUNT):
        raise RuntimeError("the provider went down")
    return vote(2)
