"""What is asked of an experiment, before anything is started."""

from pathlib import Path
from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from mlagentbench.core.record import Record
from mlagentbench.core.task import Budget

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


class Plan(Record):
    """One agent on some tasks with some seeds."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """Ids, or paths of task folders."""
    agent: str = "tuner"
    model: str = NO_MODEL
    settings: dict[str, str] = Field(default_factory=dict)
    """The agent's own settings."""
    edition: str = "mini"
    seeds: tuple[int, ...] = (0,)
    budget: BudgetOverride = BudgetOverride()
    parallel: PositiveInt = 1
    sandbox: Literal["auto", "bwrap"] = "auto"
    out: Path = Path("runs")
    name: str | None = None
    """The experiment's folder name; made from time, task and agent when absent."""

    @property
    def agent_label(self) -> str:
        """The agent with its settings."""
        return agent_label(self.agent, self.settings)


def agent_label(agent: str, settings: dict[str, str]) -> str:
    """Name an agent with its settings: different settings are different agents."""
    pairs = ",".join(f"{key}={value}" for key, value in sorted(settings.items()))
    return f"{agent}[{pairs}]" if pairs else agent
