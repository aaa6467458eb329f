"""What is said about how a run was worked, and the text each word of it rests on."""

from enum import StrEnum

from mlagentbench.core.record import Record


class Finding(Record):
    """One thing seen in a trace."""

    steps: tuple[int, ...]
    """Where; empty only where the whole run is meant."""
    quote: str
    """What was written there, shortened; hostile text like any other of a trace."""
    why: str
    """What is wrong with it, in one sentence."""


class ProcessCheck(Record):
    """What one check found in a run."""

    value: int = 0
    """How often; 0 where nothing was found."""
    evidence: tuple[Finding, ...] = ()
    """The first of them."""


class FailureMode(StrEnum):
    """Why a run that counts did not succeed, in the paper's words."""

    HALLUCINATION = "hallucination"
    DEBUGGING = "debugging"
    TOKEN_LENGTH = "token length"
    BAD_PLAN = "bad plan"
    FORMAT = "format"
    SUBMISSION_FORMAT = "submission format"
    SMALL_IMPROVEMENT = "small improvement"


class Mark(Record):
    """What a judge thought of one criterion, over all its votes."""

    median: float
    votes: tuple[int, ...]
    quote: str = ""
    """What the judge named as its reason, shortened."""


class Opinion(Record):
    """What a model that was asked to judge thinks of a run; never part of a score."""

    model: str
    marks: dict[str, Mark]
    """By criterion, from 1 to 5."""
    agrees_with_itself: float | None = None
    """The share of pairs of votes at most one mark apart; None for a single vote."""
    agrees_with_rules: float | None = None
    """The share of criteria on which it and the process checks say the same."""
    unreadable: int = 0
    """Votes that could not be understood."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None where nobody knows the judge's price."""
