"""The scorecard of a run and its parts: findings, failure mode, LLM judge's opinion."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.core.task import Direction, Scale
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


class Origin(StrEnum):
    """Where a run was made; tables keep runs of different origin apart."""

    RUN = "run"
    """By this harness."""
    EXTERNAL = "external"
    """Elsewhere; only the submission is known."""
    HARBOR = "harbor"
    HUMAN = "human"


class Starter(Record):
    """Measured scores of the starter or of another baseline."""

    mean: float
    sd: float
    n: int


class Level(StrEnum):
    """The highest level that a score reaches."""

    NONE = "none"
    BRONZE = "bronze"
    """Significantly better than the starter and the tuning baseline."""
    SILVER = "silver"
    """At least half-way from the starter to the reference."""
    GOLD = "gold"
    """Not below the reference's mean by more than its noise."""


class BestStep(Record):
    """The best scored snapshot of a run."""

    step: int
    score: float


class FirstSuccess(Record):
    """The first step whose submission succeeds on held-out data."""

    step: int
    seconds: float
    tokens: int
    cost_usd: float = 0.0


class BudgetPoint(Record):
    """The score a run would have with a budget of fewer steps."""

    steps: int
    score: float | None
    """None if it had no valid submission by then."""
    success: bool = False


class RunSeconds(Record):
    """Seconds of a run, by what used them."""

    total: float = 0.0
    model: float = 0.0
    execute: float = 0.0
    harness: float = 0.0


class SandboxUsed(Record):
    """The sandbox of the agent's code, and the limits that were in force."""

    provider: str
    limits: str
    unsafe: bool = False


class Harness(Record):
    """Versions of the code that graded."""

    version: str
    inspect_ai: str


class Finding(Record):
    """One finding of a process check, with its evidence."""

    steps: tuple[int, ...]
    """Where; empty if the complete run or its final code is meant."""
    quote: str
    """Text of the trace or the code, shortened; as hostile as they are."""
    why: str
    """What is wrong, in one sentence."""


class ProcessCheck(Record):
    """The findings of one process check in a run."""

    value: int = 0
    """The number of findings."""
    evidence: tuple[Finding, ...] = ()
    """The first findings."""


class FailureMode(StrEnum):
    """The reason why a run that counts did not succeed, in the paper's words."""

    HALLUCINATION = "hallucination"
    DEBUGGING = "debugging"
    TOKEN_LENGTH = "token length"
    BAD_PLAN = "bad plan"
    FORMAT = "format"
    SUBMISSION_FORMAT = "submission format"
    SMALL_IMPROVEMENT = "small improvement"


class Mark(Record):
    """An LLM judge's rating of one criterion, over all its votes."""

    median: float
    votes: tuple[int, ...]
    quote: str = ""
    """The judge's reason, shortened."""


class Opinion(Record):
    """An LLM judge's rating of a run; never part of a score."""

    model: str
    marks: dict[str, Mark]
    """By criterion, from 1 to 5."""
    agrees_with_itself: float | None = None
    """The share of pairs of votes at most one mark apart; None for a single vote."""
    agrees_with_rules: float | None = None
    """The share of criteria on which it agrees with the process checks."""
    unreadable: int = 0
    """Votes that could not be parsed."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the judge's price is unknown."""


class Scorecard(Record):
    """The result of one run."""

    run: str
    task: str
    version: int
    edition: str
    category: str = ""
    task_digest: str = ""
    """Digest of the task folder that graded the run; empty if it is not known."""
    agent: str
    agent_digest: str = ""
    """Digest of an outside agent's code; empty for the agents that are shipped."""
    model: str
    seed: int
    ending: Ending
    reason: str | None = None
    """Details of the ending."""
    metric: str
    direction: Direction
    score: float | None = None
    """None when there is no valid submission."""
    score_ci: tuple[float, float] | None = None
    """The 95 % interval of the score, from its units."""
    submission_error: str | None = None
    starter: Starter | None = None
    """None if the starter was never measured."""
    baseline_error: str | None = None
    """Why the measured starter is not this run's baseline. The run then has no
    improvement, is never a success, and is in no average."""
    improvement: float | None = None
    """A fraction; positive is better."""
    success: bool = False
    significant: bool = False
    improvement_ci: tuple[float, float] | None = None
    """The 95 % interval of the improvement, paired by units with the starter."""
    scale: Scale = Scale.LINEAR
    """Of `gap_closed`."""
    gap_closed: float | None = None
    """The share of the way from starter to reference; negative if worse."""
    normalised: float | None = None
    """The headline: 0 is the starter, 1 the reference, worse counts as 0. A run without
    a valid submission has 0. None if no reference is known, and on scorecards of
    releases before 2.0."""
    level: Level | None = None
    """None if the tuning baseline was not measured."""
    tuned: Starter | None = None
    """The tuning baseline."""
    reference: Starter | None = None
    """The reference solution."""
    validation_queries: int = 0
    """How often the harness measured a validation score of this run."""
    carried_files: tuple[str, ...] | None = None
    """Files of earlier executions, such as checkpoints and caches, that the last
    measured execution read. None if it is not known."""
    best_step: BestStep | None = None
    steps: int = 0
    actions: dict[str, int] = Field(default_factory=dict)
    errors: dict[str, int] = Field(default_factory=dict)
    process: dict[str, ProcessCheck] = Field(default_factory=dict)
    """By check; empty if the checks did not run."""
    failure: FailureMode | None = None
    """The main reason of failure; None if the run succeeded or does not count."""
    opinion: Opinion | None = None
    """Of an LLM judge, if one was asked."""
    first_success: FirstSuccess | None = None
    by_budget: tuple[BudgetPoint, ...] = ()
    """Both only if steps were graded."""
    tokens: dict[str, Any] = Field(default_factory=dict)
    """By kind, and by role the same; cached ones are not among the input."""
    cost_usd: float = 0.0
    """Of all calls whose price is known."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price: the cost above is too low."""
    seconds: RunSeconds = RunSeconds()
    cpu_seconds: float | None = None
    """Of all processes of the sandbox; None if no step recorded them."""
    calibration_seconds: float | None = None
    """The CPU time of a fixed computation on the machine of the run."""
    resumed: int = 0
    """How often the run was resumed."""
    attempt: int = 1
    """2 if a broken run was repeated."""
    origin: Origin = Origin.RUN
    sandbox: SandboxUsed
    harness: Harness
    created: str
    label: str = Field(default="", exclude=True)
    """The name of the score beside scores of other folders; never stored."""

    @property
    def task_name(self) -> str:
        """The task's name: `task@version/edition`."""
        return f"{self.task}@{self.version}/{self.edition}"

    @property
    def score_name(self) -> str:
        """The name of the score: scores of different names are never compared."""
        return self.label or self.task_name

    @property
    def counts(self) -> bool:
        """Whether the run is part of averages."""
        return self.ending.counts and self.baseline_error is None

    @property
    def agent_shown(self) -> str:
        """The agent's name in tables; work from elsewhere is marked as such."""
        return (
            self.agent if self.origin is Origin.RUN else f"{self.agent} ({self.origin})"
        )

    @property
    def run_id(self) -> RunId:
        """The run of this scorecard."""
        return RunId(task=self.task, agent=self.agent, model=self.model, seed=self.seed)


def who(run: Scorecard | RunId) -> str:
    """Name the agent of a run, and its model if it has one."""
    agent = run.agent_shown if isinstance(run, Scorecard) else run.agent
    return agent if run.model in ("", "none") else f"{agent} / {run.model}"


Names = Mapping[tuple[str, str], str]
"""What to call a name with a digest."""


def names_apart(pairs: Iterable[tuple[str, str]]) -> Names:
    """Return a name for each pair of name and digest.

    It is the name alone, or `name (digest8)` if several digests share the name.
    """
    distinct = set(pairs)
    shared = Counter(name for name, _ in distinct)
    return {
        (name, digest): f"{name} ({digest[:8]})"
        if digest and shared[name] > 1
        else name
        for name, digest in distinct
    }


def tell_apart(
    cards: Iterable[Scorecard], agents: Names | None = None, tasks: Names | None = None
) -> tuple[Scorecard, ...]:
    """Give agents of different code, and scores of different task folders, own names.

    `agents` and `tasks` hold the names if more than these scorecards must be told
    apart.
    """
    given = tuple(cards)
    if agents is None:
        agents = names_apart((card.agent, card.agent_digest) for card in given)
    if tasks is None:
        tasks = names_apart((card.task_name, card.task_digest) for card in given)
    return tuple(
        card.model_copy(
            update={
                "agent": agents[card.agent, card.agent_digest],
                "label": tasks[card.task_name, card.task_digest],
            }
        )
        for card in given
    )
