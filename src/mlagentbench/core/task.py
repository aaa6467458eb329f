"""A task: the contents of a task folder as one frozen record."""

from collections.abc import Callable
from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, NonNegativeInt, PositiveFloat, PositiveInt

from mlagentbench.core.record import Record
from mlagentbench.core.units import Units


class Direction(StrEnum):
    """The direction in which a metric gets better; declared, never guessed."""

    HIGHER = auto()
    LOWER = auto()

    @property
    def sign(self) -> int:
        """+1 if higher is better, -1 if lower is."""
        return 1 if self is Direction.HIGHER else -1


class Scale(StrEnum):
    """The scale on which a score lies between starter and reference."""

    LINEAR = auto()
    LOG = auto()
    """For ratios of times: halving a time counts the same wherever it starts."""
    LOGIT = auto()
    """For rates that come near 1: halving the errors counts the same."""


class DataKind(StrEnum):
    """The kind of an edition's data, shown beside its scores."""

    REAL = "real"
    SUBSTITUTE = "substitute"
    SEMI_SYNTHETIC = "semi-synthetic"
    GENERATED = "generated"


class Budget(Record):
    """The limits of one run."""

    steps: PositiveInt = 50
    """Actions the agent may take; the final answer is one of them."""
    minutes: PositiveFloat = 60
    """Executions, model work and the agent's own time; neither the harness's overhead
    nor waiting for a provider that refuses counts."""
    wall_minutes: PositiveFloat | None = None
    """The longest a run may take, with all waiting; see `longest_minutes`."""
    execution_minutes: PositiveFloat = 10
    """The longest a single execution may take."""
    tokens: PositiveInt | None = None
    cost_usd: PositiveFloat | None = None
    submission_mb: PositiveFloat = 200
    """The largest submission that is collected, all files together."""

    @property
    def longest_minutes(self) -> float:
        """The wall-time limit: by default twice the time budget plus 10 minutes."""
        return self.wall_minutes or 2 * self.minutes + 10


class Source(Record):
    """One package that an edition's data is made from."""

    kind: Literal["pip", "npm", "generated"]
    package: str = ""
    version: str = ""
    sha256: str = ""
    """Of the archive as the registry serves it; empty for generated data."""
    python: str = ""
    """The Python release a wheel was built for; empty if it fits any."""


class Edition(Record):
    """One way to run a task: `mini` on a laptop, `full` with the paper's own data."""

    data: DataKind
    summary: str
    """The data in one line."""
    size_mb: PositiveFloat
    """The prepared data on disk."""
    memory_gb: PositiveFloat = 4
    cpus: PositiveInt = 1
    """Cores of a sandbox; a study reserves them for each of its runs."""
    gpus: NonNegativeInt = 0
    """Devices that a study reserves for each of its runs."""
    sources: tuple[Source, ...] = ()


class Validation(Record):
    """The files by which the harness measures progress on the validation split."""

    answers: str = "validation.csv"
    """Predictions for validation ids, which a script writes beside its submission."""
    truth: str = "data/validation.csv"
    """The labels: under `private/` if they are hidden, otherwise under `public/`."""
    hidden: bool = False
    """Whether the agent has no labels of the validation split."""


AgentEnvName = Literal["base", "torch", "numpy"]
"""The environments code can run in, each built from its own lock file."""


Requirement = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*((==|>=|<=|~=|!=|<|>)[\w.*+!,<>=~]+)?$"),
]
"""A package as pip names it, such as `lightgbm` or `lightgbm==4.6.0`; no option, no
address and no path."""


class Grading(Record):
    """The way submitted code is graded: run in a fresh sandbox, without labels."""

    driver: str = "driver.py"
    """The task's file that loads the submission and answers inputs with it."""
    files: tuple[str, ...] = ()
    """More files of the task that the driver imports."""
    data: bool = False
    """Whether the submission can read `data/` as in its workspace."""
    agent_env: AgentEnvName = "base"
    inputs: str = "inputs"
    """A folder under `private/`: one hidden input file per turn."""
    visible_inputs: str
    """The same under `public/`, to measure progress and to check a submission."""
    visible_truth: str
    """The correct outputs for the visible inputs, under `public/`."""
    validation_inputs: str | None = None
    """A folder under `private/` with the inputs that progress is measured on; without
    it, progress is measured on the visible inputs."""
    validation_truth: str | None = None
    """The correct outputs for the validation inputs, under `private/`."""
    timed: bool = False
    """Whether starter and submission are timed in alternating turns."""
    seconds: PositiveFloat = 60
    """The longest one turn may take, from its input to the end of its output."""
    visible_seconds: PositiveFloat = 20
    """For all visible or validation inputs together, after each execution."""
    loading_seconds: PositiveFloat = 20
    """The longest a submission may take to be imported, in every grading and check.
    The default is the number that problem texts of version 1 promise."""
    total_seconds: PositiveFloat = 180
    """For all hidden inputs together."""
    output_mb: PositiveFloat = 64
    """The longest output of one turn."""


class Baseline(Record):
    """Measured scores of one known solution."""

    mean: float
    sd: float
    n: PositiveInt
    date: str
    scores: tuple[float, ...] = ()
    validation: tuple[float, ...] = ()
    """Validation scores of the same runs, as the harness measured them."""


class Measured(Record):
    """The result of `mlab measure` for one edition."""

    starter: Baseline
    reference: Baseline
    tuned: Baseline | None = None
    """The tuning baseline: the agent `tuner` with 20 executions."""
    digest: str
    """Of the edition's files when it was measured."""


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
    """The environment of the agent's code."""
    agent_packages: tuple[Requirement, ...] = ()
    """Packages to install on top of `agent_env`, for the agent and for graded code."""
    script: str = "train.py"
    """The starter's entry point."""
    submission: tuple[str, ...] = Field(min_length=1)
    """Files collected at the end, relative to the workspace."""
    truth: str = "answers.csv"
    """The held-out labels, under `private/`."""
    perfect: float
    """The score of perfect answers."""
    scale: Scale = Scale.LINEAR
    scale_reason: str = ""
    """Why the scale fits the metric."""
    sd_floor: float = Field(default=0.0, ge=0)
    """The smallest standard deviation assumed of the starter."""
    validation: Validation | None = None
    grading: Grading | None = None
    """Present if the submission is code that must be run."""
    budget: Budget = Budget()
    edition: str
    data: Edition
    folder: Path
    """The task's files on this machine; only the starter, the problem and the metric
    enter a sandbox."""
    digest: str = ""
    """Of the edition's files as they were loaded; empty for a task without a folder."""
    measured: Measured | None = None

    @property
    def edition_folder(self) -> Path:
        """The edition's subfolder, if it has a task.toml there; otherwise `folder`."""
        own = self.folder / self.edition
        return own if (own / "task.toml").is_file() else self.folder

    def part(self, name: str) -> Path:
        """Return the path of a file or folder of the task, as its edition has it.

        An edition takes from the task what its own folder does not hold.
        """
        own = self.edition_folder / name
        return own if own.exists() else self.folder / name

    @property
    def hides_validation(self) -> bool:
        """Whether progress is measured on labels or inputs that the agent lacks."""
        hidden = self.validation is not None and self.validation.hidden
        return hidden or (
            self.grading is not None and self.grading.validation_inputs is not None
        )

    @property
    def agent_envs(self) -> tuple[AgentEnvName, ...]:
        """All environments of its code, for the agent and for grading."""
        graded_in = () if self.grading is None else (self.grading.agent_env,)
        return tuple(dict.fromkeys((self.agent_env, *graded_in)))

    @property
    def name(self) -> str:
        """The name of its scores: scores of different names are never compared."""
        return f"{self.id}@{self.version}/{self.edition}"


class Graded(Record):
    """A grader's result with more than the score."""

    score: float
    units: Units | tuple[FiniteFloat, ...] | None = None
    """The parts of the score, from which it can be computed on a resample. Plain
    numbers are units whose mean is the score."""


Grade = Callable[[Path, Path], float | Graded]
"""A task's `grade(answers, truth)`, which returns the score.

`answers` is the submitted file, or the folder of files if the task asks for several.
`truth` is the labels of the same split. A `SubmissionError` is the agent's fault; any
other exception is the grader's.
"""
