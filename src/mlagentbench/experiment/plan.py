"""Plan (what a user asks for) and ExperimentSpec (experiment.json)."""

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from mlagentbench.core import Budget, Origin, Record, RunId
from mlagentbench.evaluation import Price
from mlagentbench.tasks import is_folder

NO_MODEL = "none"


class BudgetOverride(Record):
    """Limits of a run that replace those of its task."""

    steps: PositiveInt | None = None
    minutes: PositiveFloat | None = None
    wall_minutes: PositiveFloat | None = None
    tokens: PositiveInt | None = None
    cost_usd: PositiveFloat | None = None

    def applied(self, budget: Budget) -> Budget:
        return budget.model_copy(update=self.model_dump(exclude_none=True))


class TotalLimits(Record):
    """Limits on a whole experiment: once one is reached, no new run starts."""

    cost_usd: PositiveFloat | None = None
    """Of all its runs, also of those that an earlier command carried out."""
    hours: PositiveFloat | None = None
    """Wall time since this command started its first run."""


class RetryLimits(Record):
    """Limits on waiting for a provider; beyond them the run ends as its failure."""

    max_retries: NonNegativeInt = 5
    """How often a failed request is sent again."""
    attempt_timeout: PositiveInt = 600
    """Seconds for one request, from sending it to the end of its reply."""


class Judge(Record):
    """A model that rates each run once the run is graded."""

    model: str
    votes: PositiveInt = 3
    """How often it is asked about each run."""


class ExperimentOptions(Record):
    """Options that a plan asks for and experiment.json records unchanged."""

    agent: str = "tuner"
    agent_name: str | None = None
    """The agent's name in run ids and tables, if it is not `agent`."""
    settings: dict[str, str] = Field(default_factory=dict)
    """The agent's own settings."""
    model: str = NO_MODEL
    roles: dict[str, str] = Field(default_factory=dict)
    """Other models for some of the work, such as `editor` and `helper`."""
    model_args: dict[str, Any] = Field(default_factory=dict)
    """The provider's own settings, by Inspect's names."""
    patience: RetryLimits = RetryLimits()
    judge: Judge | None = None
    """It does none of the work, so it is not part of the model's label."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Of models, by name, if Inspect knows none or others."""
    seeds: tuple[int, ...] = (0,)
    parallel: PositiveInt = 1

    @property
    def agent_label(self) -> str:
        """The agent with its settings: different settings are different agents."""
        return _with_pairs(self.agent_name or self.agent, self.settings)

    @property
    def model_label(self) -> str:
        """The model with those that share its work: they are compared as one."""
        return _with_pairs(self.model, self.roles)

    @property
    def models(self) -> list[str]:
        """Every model by name, the main one first."""
        judge = [self.judge.model] if self.judge else []
        return [self.model, *self.roles.values(), *judge]


class Named(Record):
    """Code and addresses that the user has named.

    An experiment's folder may come from anybody. What it names itself is not run.
    """

    task_paths: tuple[Path, ...] = ()
    """Folders of tasks outside the suite."""
    agents: tuple[str, ...] = ()
    """Outside agents, as `module:function`."""
    model_args: dict[str, Any] | None = None
    """They may hold the address that keys are sent to, or let a model bring code."""

    @property
    def options(self) -> str:
        """The options of a command that name the same, each after a space."""
        args = (self.model_args or {}).items()
        words = [
            *(("--task-path", str(path)) for path in self.task_paths),
            *(("--agent", agent) for agent in self.agents if ":" in agent),
            *(("-M", f"{key}={_as_written(value)}") for key, value in args),
        ]
        return "".join(f" {name} {shlex.quote(value)}" for name, value in words)


class Plan(ExperimentOptions):
    """One agent on some tasks with some seeds."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """Ids, or paths of task folders."""
    edition: str = "mini"
    budget: BudgetOverride = BudgetOverride()
    total: TotalLimits = TotalLimits()
    out: Path = Path("runs")
    name: str | None = None
    """The experiment's folder name; made from time, task and agent when absent."""

    @property
    def named(self) -> Named:
        """The code that the user has named with this plan."""
        return Named(
            task_paths=tuple(Path(task) for task in self.tasks if is_folder(task)),
            agents=(self.agent,),
            model_args=self.model_args,
        )


def _as_written(value: object) -> str:
    """Return the text that `-M` reads as a value."""
    import yaml

    with suppress(yaml.YAMLError, ValueError):
        if isinstance(value, str) and yaml.safe_load(value) == value:
            return value
    return json.dumps(value)


def _with_pairs(name: str, given: dict[str, str]) -> str:
    pairs = ",".join(f"{key}={value}" for key, value in sorted(given.items()))
    return f"{name}[{pairs}]" if pairs else name


class TaskSpec(Record):
    """One task of an experiment, as it was when the experiment started."""

    id: str
    version: int
    edition: str
    source: str
    """The id, or the folder it was loaded from."""
    digest: str
    budget: Budget

    @property
    def name(self) -> str:
        """`task@version/edition`."""
        return f"{self.id}@{self.version}/{self.edition}"


class ForkOrigin(Record):
    """The run that a fork with another model was made from."""

    run: str
    model: str


class ExperimentSpec(ExperimentOptions):
    """The plan, its tasks and its circumstances: `experiment.json`."""

    agent_digest: str = ""
    """Digest of an outside agent's code when the experiment started."""
    tasks: tuple[TaskSpec, ...]
    origin: Origin = Origin.RUN
    outside_runs: tuple[RunId, ...] = ()
    """The runs, if they were made elsewhere; else they follow from the options."""
    sandbox: str
    limits: str
    unsafe: bool = False
    agent_env: dict[str, str]
    """The digest of each agent environment used, by variant."""
    packages: dict[str, str]
    python: str
    machine: str = ""
    """Cores, memory, processor and Python of the machine that started it."""
    calibration_seconds: float | None = None
    """The CPU time of a fixed computation on that machine; None if no run was made."""
    started: str
    forked_from: ForkOrigin | None = None
    """If the model is another one than that of the first steps.

    The agent replays them as it took them: with the randomness of that run, and with
    the reply protocol of that model, which the new model keeps.
    """

    @property
    def runs(self) -> list[RunId]:
        """Every planned run."""
        if self.outside_runs:
            return list(self.outside_runs)
        agent, model = self.agent_label, self.model_label
        return [
            RunId(task=task.id, agent=agent, model=model, seed=seed)
            for task in self.tasks
            for seed in self.seeds
        ]

    @property
    def protocol_model(self) -> str:
        """The model whose reply protocol the runs use."""
        return self.forked_from.model if self.forked_from else self.model

    def random_seed(self, run: RunId) -> str:
        """Return the seed of a run's randomness."""
        return self.forked_from.run if self.forked_from else str(run)
