"""The trace of a run: its steps, model calls and ending.

A trace is a file of lines, each a record of one of the kinds below, appended and
flushed as it happens. Grading, resuming and reporting read this record.
"""

from datetime import UTC, datetime
from enum import StrEnum, auto
from typing import Annotated, Any, Literal

from pydantic import Field

from mlagentbench.core.record import Record

TRACE_VERSION = 1
REJECTED = "Invalid Reply"
"""The action name of a reply that was rejected."""
NOT_MEASURED = "validation could not be measured"
"""The start of a step's note if its validation predictions or code were not valid."""
Fault = Literal["bad_reply", "pointless"]
"""Why a reply was rejected: it is not an action, or it would change nothing."""


def _is_empty(value: object) -> bool:
    """Whether a field that earlier versions lack is left out of the file."""
    return not value


def _is_none(value: object) -> bool:
    return value is None


class ModelCall(Record):
    """One reply of a language model, with its usage and cost."""

    role: str
    model: str
    asked_by: Literal["agent", "action"] = "agent"
    """Some actions also call a model."""
    request_sha: str
    reply: dict[str, Any]
    usage: dict[str, int] = Field(default_factory=dict)
    cost: float | None = None
    seconds_left: tuple[float, ...] = Field((), exclude_if=_is_empty)
    """The answers of `remaining()` since the record before, for a replay."""


class Measurement(Record):
    """A validation score that the harness computed."""

    metric: str
    value: float
    low: float | None = Field(None, exclude_if=_is_none)
    """Of the 95 % interval, if the score has units."""
    high: float | None = Field(None, exclude_if=_is_none)
    """Of the same interval."""


class Spent(Record):
    """The budget that a run has used so far."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0


class Seconds(Record):
    """Seconds of one step, by what used them."""

    model: float = 0.0
    execute: float = 0.0
    harness: float = 0.0
    agent: float = Field(0.0, exclude_if=_is_empty)
    """The agent's own code before the step: its computing, its waiting, its client."""
    cpu: float | None = Field(None, exclude_if=_is_none)
    """CPU seconds of the sandbox during the step, by all its processes."""
    checked: float = Field(0.0, exclude_if=_is_empty)
    """Seconds of submitted code in Check Submission; `execute` has those that count."""

    @property
    def total(self) -> float:
        """All of them."""
        return self.model + self.execute + self.harness + self.agent


class Step(Record):
    """One action with its input and observation."""

    kind: Literal["step"] = "step"
    v: int = TRACE_VERSION
    run: str
    step: int
    """Counts every line from 1; `spent` has the number of steps that count."""
    agent_step: int
    """Counts the agent's turns: one turn may take several steps, or none."""
    calls: tuple[ModelCall, ...] = ()
    """On disk these are separate lines before the step."""
    fields: dict[str, str] = Field(default_factory=dict)
    """Other fields of the reply: plan, thought, reflection."""
    action: str
    input: dict[str, Any]
    observation: str
    observation_blob: str | None = None
    """Digest of a shortened observation's full text, which is in `trace/blobs`."""
    ok: bool
    error: str | None = None
    """The kind of failure, if the action failed."""
    validation: Measurement | None = None
    note: str | None = None
    """Text that the harness adds to the observation: measured progress."""
    carried: tuple[str, ...] | None = Field(None, exclude_if=_is_none)
    """Files written by earlier executions that this execution read, at most 20. None if
    the step is not an execution, or if its files could not be watched."""
    refused: dict[str, int] = Field(default_factory=dict, exclude_if=_is_empty)
    """How often the sandbox refused each system call of the agent's programs."""
    snapshot: str | None = None
    seconds_left: tuple[float, ...] = Field((), exclude_if=_is_empty)
    """The answers of `remaining()` since the last call or step, for a replay."""
    spent: Spent
    seconds: Seconds
    started: str

    @property
    def told(self) -> str:
        """The observation with the harness's note."""
        return f"{self.observation}\n{self.note}" if self.note else self.observation


class Ending(StrEnum):
    """The way a run ended; every run has exactly one."""

    SUBMITTED = auto()
    OUT_OF_STEPS = auto()
    OUT_OF_TIME = auto()
    OUT_OF_TOKENS = auto()
    OUT_OF_COST = auto()
    STOPPED = auto()
    """The agent gave up without a final answer, or its model's replies are unusable."""
    CRASHED = auto()
    """The agent's own code raised."""
    PROVIDER_ERROR = auto()
    INTERRUPTED = auto()
    BROKEN = auto()
    """The harness failed: grader, sandbox or disk. Never the agent's failure."""

    @property
    def counts(self) -> bool:
        """Whether the run is graded and averaged; other runs can be resumed."""
        return self not in _RESUMABLE


class End(Record):
    """The last line of a finished run."""

    kind: Literal["end"] = "end"
    v: int = TRACE_VERSION
    run: str
    ending: Ending
    reason: str | None = None
    """Details of the ending."""
    traceback: str | None = Field(None, exclude_if=_is_empty)
    """The end of the traceback, or of the output, of an agent that crashed."""
    spent: Spent
    seconds: float
    """Wall-clock time from the first action to the end."""
    at: str


class Called(Record):
    """A model's reply, written at once so that no paid reply is lost."""

    kind: Literal["call"] = "call"
    v: int = TRACE_VERSION
    run: str
    call: ModelCall


class Resumed(Record):
    """A mark that a run was resumed here."""

    kind: Literal["resumed"] = "resumed"
    v: int = TRACE_VERSION
    run: str
    step: int
    """The last step that was kept."""
    at: str


AnyLine = Step | End | Called | Resumed
Line = Annotated[AnyLine, Field(discriminator="kind")]


class Trace(Record):
    """The lines of one run, read back."""

    run: str
    steps: tuple[Step, ...] = ()
    """Each with the model calls before it."""
    calls: tuple[ModelCall, ...] = ()
    """Replies that came after the last step."""
    resumed: int = 0
    """How often the run was resumed."""
    end: End | None = None
    """None if the run has not finished."""

    @property
    def seconds(self) -> float:
        """Seconds of all steps."""
        return sum(step.seconds.total for step in self.steps)


_RESUMABLE = frozenset({Ending.PROVIDER_ERROR, Ending.INTERRUPTED, Ending.BROKEN})


def utc_now() -> str:
    """Return the time in the format of all records."""
    return datetime.now(UTC).isoformat(timespec="seconds")
