"""What was asked of an experiment, as it is written down when the experiment begins."""

from typing import Any

from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.core.task import Budget
from mlagentbench.evaluation.pricing import Price
from mlagentbench.run.plan import Judge, Patience, agent_label, model_label


class TaskAsked(Record):
    """One task of an experiment, as it was when the experiment began."""

    id: str
    version: int
    edition: str
    source: str
    """The id, or the folder it was loaded from."""
    digest: str
    budget: Budget


class Asked(Record):
    """What was asked, and under which circumstances: `experiment.json`."""

    tasks: tuple[TaskAsked, ...]
    agent: str
    settings: dict[str, str]
    model: str
    roles: dict[str, str] = Field(default_factory=dict)
    model_args: dict[str, Any] = Field(default_factory=dict)
    patience: Patience = Patience()
    judge: Judge | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    """Of models, where a person told them."""
    seeds: tuple[int, ...]
    parallel: int
    sandbox: str
    limits: str
    unsafe: bool = False
    agent_env: dict[str, str]
    """The digest of each agent environment used, by variant."""
    packages: dict[str, str]
    python: str
    started: str

    @property
    def agent_label(self) -> str:
        """The agent with its settings."""
        return agent_label(self.agent, self.settings)

    @property
    def model_label(self) -> str:
        """The model with those of other roles."""
        return model_label(self.model, self.roles)
