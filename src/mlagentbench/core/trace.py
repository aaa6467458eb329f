"""Step, ModelCall, End, Trace, Ending.

A trace is a file of lines, each a record of one of the kinds below, appended and
flushed as it happens. It is the record that judging, resuming and reporting read.
"""

from datetime import UTC, datetime
from enum import StrEnum, auto
from typing import Annotated, Any, Literal

from pydantic import Field

from mlagentbench.core.record import Record

TRACE_VERSION = 1
REJECTED = "Invalid Reply"
"""Stands where an action's name would, for a reply that was not acted on."""
Fault = Literal["bad_reply", "pointless"]
"""Why it was not: it is no action, or one that could bring nothing new."""


class ModelCall(Record):
    """One reply of a language model, as it was paid for."""

    role: str
    model: str
    asked_by: Literal["agent", "action"] = "agent"
    """An action that is composed of model calls asks too."""
    request_sha: str
    reply: dict[str, Any]
    usage: dict[str, int] = Field(default_factory=dict)
    cost: float | None = None


class Measurement(Record):
    """A validation score the harness computed itself."""

    metric: str
    value: float


class Spent(Record):
    """What a run has used of its budget so far."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0


class Seconds(Record):
    """Where one step's time went."""

    model: float = 0.0
    execute: float = 0.0
    harness: float = 0.0


class Step(Record):
    """One action, what it was given and what came back."""

    kind: Literal["step"] = "step"
    v: int = TRACE_VERSION
    run: str
    step: int
    """Counts every line from 1; what was spent says which count as steps taken."""
    agent_step: int
    """Counts the agent's own turns: one may take several steps, or ask for none."""
    calls: tuple[ModelCall, ...] = ()
    """On disk these stand in lines of their own, before the step."""
    fields: dict[str, str] = Field(default_factory=dict)
    """What the agent said beside its action: plan, thought, reflection."""
    action: str
    input: dict[str, Any]
    observation: str
    observation_blob: str | None = None
    """Digest of a shortened observation. Only traces imported earlier have one."""
    ok: bool
    error: str | None = None
    """The kind of failure, where the action was not done."""
    validation: Measurement | None = None
    note: str | None = None
    """What we add to the observation: progress as we measured it."""
    snapshot: str | None = None
    spent: Spent
    seconds: Seconds
    started: str

    @property
    def told(self) -> str:
        """The observation with what we add to it."""
        return f"{self.observation}\n{self.note}" if self.note else self.observation


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


class End(Record):
    """The last line of a finished run."""

    kind: Literal["end"] = "end"
    v: int = TRACE_VERSION
    run: str
    ending: Ending
    reason: str | None = None
    """Why, where the ending alone does not say it."""
    spent: Spent
    seconds: float
    """Wall-clock time from the first action to the end."""
    at: str


class Called(Record):
    """A model's reply, written as soon as it came so that no paid one is lost."""

    kind: Literal["call"] = "call"
    v: int = TRACE_VERSION
    run: str
    call: ModelCall


class Resumed(Record):
    """Where a run was taken up again after it had been cut off."""

    kind: Literal["resumed"] = "resumed"
    v: int = TRACE_VERSION
    run: str
    step: int
    """The last step that was kept."""
    at: str


AnyLine = Step | End | Called | Resumed
Line = Annotated[AnyLine, Field(discriminator="kind")]


class Trace(Record):
    """A run's lines, read back."""

    run: str
    steps: tuple[Step, ...] = ()
    """Each with the model calls that led to it."""
    calls: tuple[ModelCall, ...] = ()
    """Replies that came after the last step."""
    resumed: int = 0
    """How often the run was taken up again."""
    end: End | None = None
    """None while the run goes on, or where it was cut off."""


_RESUMABLE = frozenset({Ending.PROVIDER_ERROR, Ending.INTERRUPTED, Ending.BROKEN})


def utc_now() -> str:
    """Return the time in the form every record uses."""
    return datetime.now(UTC).isoformat(timespec="seconds")
