"""Scorecard, RunId, Finding, FailureMode, Opinion."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending


class RunId(Record):
    """One agent on one task with one seed."""

    task: str
    agent: str
    model: str
    seed: int

    def __str__(self) -> str:
        """`task:agent:model:seed`, the run's name everywhere."""
        return f"{self.task}:{self.agent}:{self.model}:{self.seed}"


class Starter(Record):
    """The starter's measured scores, against which improvement is counted."""

    mean: float
    sd: float
    n: int


class BestStep(Record):
    """The best scored snapshot of a run."""

    step: int
    score: float


class FirstSuccess(Record):
    """When a run first had something that passes the bar, on held-out data."""

    step: int
    seconds: float
    tokens: int
    cost_usd: float = 0.0


class BudgetPoint(Record):
    """What a run would have scored, had it been stopped after so many steps."""

    steps: int
    score: float | None
    """None where it had no valid submission by then."""
    success: bool = False


class RunSeconds(Record):
    """Where a run's time went."""

    total: float = 0.0
    model: float = 0.0
    execute: float = 0.0
    harness: float = 0.0


class SandboxUsed(Record):
    """What held the agent's code, and which limits were really in force."""

    provider: str
    limits: str
    unsafe: bool = False


class Harness(Record):
    """Which code judged."""

    version: str
    inspect_ai: str


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


class Scorecard(Record):
    """The judgement of one run."""

    run: str
    task: str
    version: int
    edition: str
    category: str = ""
    agent: str
    model: str
    seed: int
    ending: Ending
    reason: str | None = None
    """Why it ended so, where the ending alone does not say it."""
    metric: str
    direction: Direction
    score: float | None = None
    """None when there is no valid submission."""
    score_ci: tuple[float, float] | None = None
    submission_error: str | None = None
    starter: Starter | None = None
    """None where the starter was never measured."""
    improvement: float | None = None
    """A fraction; positive is better."""
    success: bool = False
    significant: bool = False
    gap_closed: float | None = None
    best_step: BestStep | None = None
    steps: int = 0
    actions: dict[str, int] = Field(default_factory=dict)
    errors: dict[str, int] = Field(default_factory=dict)
    process: dict[str, ProcessCheck] = Field(default_factory=dict)
    """By check; empty where nobody looked."""
    failure: FailureMode | None = None
    """The main reason why it did not succeed; None where it did, or does not count."""
    opinion: Opinion | None = None
    """Of a judge, where one was asked."""
    first_success: FirstSuccess | None = None
    by_budget: tuple[BudgetPoint, ...] = ()
    """Both only where steps were scored."""
    tokens: dict[str, Any] = Field(default_factory=dict)
    """By kind, and by role the same; cached ones are not among the input."""
    cost_usd: float = 0.0
    """Of all calls whose price is known."""
    unpriced: tuple[str, ...] = ()
    """Models that were asked at a price nobody told: the cost above is too low."""
    seconds: RunSeconds = RunSeconds()
    resumed: int = 0
    """How often the run was taken up again after it had been cut off."""
    attempt: int = 1
    """2 where a broken run was repeated."""
    sandbox: SandboxUsed
    harness: Harness
    created: str

    @property
    def score_name(self) -> str:
        """What its score belongs to: `task@version/edition`."""
        return f"{self.task}@{self.version}/{self.edition}"

    @property
    def run_id(self) -> RunId:
        """Which run it is about."""
        return RunId(task=self.task, agent=self.agent, model=self.model, seed=self.seed)
