"""How a run ended, named once."""

from enum import StrEnum, auto


class Ending(StrEnum):
    """Every run has exactly one of these."""

    SUBMITTED = auto()
    OUT_OF_STEPS = auto()
    OUT_OF_TIME = auto()
    OUT_OF_TOKENS = auto()
    OUT_OF_COST = auto()
    STOPPED = auto()
    """The agent gave up without a final answer."""
    CRASHED = auto()
    """The agent's own code raised."""
    PROVIDER_ERROR = auto()
    INTERRUPTED = auto()
    BROKEN = auto()
    """Our fault: grader, sandbox or disk. Never averaged as the agent's failure."""

    @property
    def counts(self) -> bool:
        """Whether the run is judged and averaged; the others can be resumed."""
        return self not in _RESUMABLE


_RESUMABLE = frozenset({Ending.PROVIDER_ERROR, Ending.INTERRUPTED, Ending.BROKEN})
