"""What is asked of an experiment, before anything is started."""

from pathlib import Path
from typing import Any

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from mlagentbench.core.record import Record
from mlagentbench.core.task import Budget
from mlagentbench.evaluation.pricing import Price

NO_MODEL = "none"


class BudgetOverride(Record):
    """Limits given on the command line; what is absent stays as the task says."""

    steps: PositiveInt | None = None
    minutes: PositiveFloat | None = None
    tokens: PositiveInt | None = None
    cost_usd: PositiveFloat | None = None

    def applied(self, budget: Budget) -> Budget:
        """Return the task's budget with these limits in place."""
        return budget.model_copy(update=self.model_dump(exclude_none=True))


class Patience(Record):
    """How long a model's provider is waited for; then the run ends as its failure."""

    max_retries: NonNegativeInt = 5
    """How often a failed request is sent again."""
    attempt_timeout: PositiveInt = 600
    """Seconds for one request, from sending it to the end of its reply."""


class Judge(Record):
    """A model that says what it thinks of each run, once the run is judged."""

    model: str
    votes: PositiveInt = 3
    """How often it is asked about each run."""


class Plan(Record):
    """One agent on some tasks with some seeds."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """Ids, or paths of task folders."""
    agent: str = "tuner"
    model: str = NO_MODEL
    roles: dict[str, str] = Field(default_factory=dict)
    """Other models for some of the work, such as `editor` and `helper`."""
    model_args: dict[str, Any] = Field(default_factory=dict)
    """The provider's own settings, by Inspect's names."""
    patience: Patience = Patience()
    judge: Judge | None = None
    """It does none of the work, so it is no part of the model's name."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Of models, by name, where Inspect knows none or others."""
    settings: dict[str, str] = Field(default_factory=dict)
    """The agent's own settings."""
    edition: str = "mini"
    seeds: tuple[int, ...] = (0,)
    budget: BudgetOverride = BudgetOverride()
    parallel: PositiveInt = 1
    out: Path = Path("runs")
    name: str | None = None
    """The experiment's folder name; made from time, task and agent when absent."""

    @property
    def agent_label(self) -> str:
        """The agent with its settings."""
        return agent_label(self.agent, self.settings)


def agent_label(agent: str, settings: dict[str, str]) -> str:
    """Name an agent with its settings: different settings are different agents."""
    return _with_pairs(agent, settings)


def model_label(model: str, roles: dict[str, str]) -> str:
    """Name a model with those that share its work: they are compared as one."""
    return _with_pairs(model, roles)


def _with_pairs(name: str, given: dict[str, str]) -> str:
    pairs = ",".join(f"{key}={value}" for key, value in sorted(given.items()))
    return f"{name}[{pairs}]" if pairs else name
