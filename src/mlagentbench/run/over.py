"""Leaving an agent's code when its run is over."""

from inspect_ai.util import LimitExceededError

from mlagentbench.core.ending import Ending

_INSPECT_LIMITS = {
    "token": Ending.OUT_OF_TOKENS,
    "cost": Ending.OUT_OF_COST,
    "time": Ending.OUT_OF_TIME,
    "working": Ending.OUT_OF_TIME,
    "message": Ending.OUT_OF_STEPS,
    "turn": Ending.OUT_OF_STEPS,
}


class RunOver(BaseException):
    """No error an agent may catch, nor one of ours to be blamed for."""

    def __init__(self, ending: Ending, reason: str | None = None) -> None:
        super().__init__(ending)
        self.ending = ending
        self.reason = reason


def over_by(limit: LimitExceededError) -> RunOver:
    """Return the end that one of Inspect's own limits brings."""
    return RunOver(_INSPECT_LIMITS.get(limit.type, Ending.STOPPED), str(limit))
