"""How things stand, as a model is told before each move."""

from collections.abc import Sequence

from mlagentbench.agents.context import Remaining
from mlagentbench.agents.modern.attention import Attention
from mlagentbench.agents.modern.ledger import Ledger
from mlagentbench.agents.prompting import prompt


def standing(
    mind: Attention, ledger: Ledger, ideas: Sequence[str], left: Remaining
) -> str:
    """Tell what was tried, what is left of the budget, and what to turn to."""
    return prompt(
        "modern_standing",
        remark=mind.remark,
        next=_next(mind, ideas),
        ledger=ledger.table(),
        steps=str(left.steps),
        minutes=f"{left.seconds / 60:.0f}",
        tokens="" if left.tokens is None else f", {left.tokens} tokens",
    )


def _next(mind: Attention, ideas: Sequence[str]) -> str:
    """Return what the model is told to turn to, if anything."""
    if not mind.works:
        return "The last trial has no score: mend its cause before anything else."
    if not ideas:
        return ""
    return f"An idea for the next trial: {ideas[mind.ideas_used % len(ideas)]}"
