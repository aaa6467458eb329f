"""How a model is told what it may do, in every language."""

import json

from mlagentbench.environment.action import Action


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
