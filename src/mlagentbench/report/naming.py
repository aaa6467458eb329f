"""What the one who acted is called."""

from mlagentbench.core.scorecard import Scorecard


def who(card: Scorecard) -> str:
    """Name who acted: the agent, and its model where it has one."""
    return card.agent if card.model in ("", "none") else f"{card.agent} / {card.model}"
