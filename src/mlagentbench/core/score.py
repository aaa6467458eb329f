"""What a score means beside the starter's mean: improvement, and the bar to pass."""

from mlagentbench.core.task import SUCCESS_BAR, Direction


def improvement(score: float, starter: float, direction: Direction) -> float | None:
    """Return the gain as a fraction of the starter's mean; positive is better."""
    if starter == 0:
        return None
    return direction.sign * (score - starter) / abs(starter)


def success_bar(starter: float, direction: Direction) -> float:
    """Return the score that must be passed to succeed."""
    return starter + direction.sign * SUCCESS_BAR * abs(starter)
