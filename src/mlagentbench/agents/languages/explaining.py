"""How a model is told what it may do, in every language."""

import json
from pathlib import Path

from mlagentbench.environment.action import Action

_PROMPTS = Path(__file__).parents[1] / "prompts"


def explained(language: str, **parts: str) -> str:
    """Return a language's own prompt with its parts filled in."""
    text = (_PROMPTS / f"language_{language}.md").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"<<{name}>>", part)
    return text.strip()


def listed(actions: tuple[Action, ...]) -> str:
    """Return the actions as a markdown list, each with the input it takes."""
    return "\n".join(
        f"- {action.name}: {action.summary} Input: {_sample(action)}"
        for action in actions
    )


def _sample(action: Action) -> str:
    return json.dumps(
        {name: f"<{text}>" for name, text in action.parameters.items()},
        ensure_ascii=False,
    )
