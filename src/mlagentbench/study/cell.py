"""A cell of a study: one run, identified by a key.

The key covers everything that a result depends on. It never contains an engine's job
id: Slurm can forget a job and give its id to another one.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from pydantic import Field

from mlagentbench.core import Record, RunId
from mlagentbench.evaluation import Price
from mlagentbench.experiment import (
    NO_MODEL,
    BudgetOverride,
    Judge,
    Plan,
    RetryLimits,
)

_KEY_DIGITS = 12
_LONGEST_NAME = 60


class Resources(Record):
    """What a cell needs of the machine that runs it."""

    cpus: float = 1
    memory_gb: float = 4
    gpus: float = 0


class Cell(Record):
    """One run of a study."""

    task: str
    """An id, or the path of a task folder."""
    task_name: str
    """`task@version/edition`."""
    task_digest: str
    agent_env: dict[str, str] = Field(default_factory=dict)
    """The digest of each environment of the task's code, by name."""
    agent: str
    agent_name: str | None = None
    agent_digest: str = ""
    """Of an outside agent's code; empty for a shipped agent."""
    settings: dict[str, str] = Field(default_factory=dict)
    model: str = NO_MODEL
    roles: dict[str, str] = Field(default_factory=dict)
    model_args: dict[str, Any] = Field(default_factory=dict)
    judge: Judge | None = None
    seed: int = 0
    budget: BudgetOverride = BudgetOverride()
    patience: RetryLimits = RetryLimits()
    """Not part of the key."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """Not part of the key."""
    resources: Resources = Resources()
    """Not part of the key."""

    @property
    def key(self) -> str:
        """The digest of all that the result depends on."""
        left_out = {"task", "patience", "prices", "resources"}
        document = self.model_dump(mode="json", exclude=left_out)
        text = json.dumps(document, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def id(self) -> str:
        """A name for files: readable words and the first digits of the key."""
        task = self.task_name.partition("@")[0]
        agent = self.agent_name or self.agent.rpartition(":")[2]
        model = "" if self.model == NO_MODEL else self.model.rpartition("/")[2]
        words = "-".join(filter(None, (task, agent, model, str(self.seed))))
        words = re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.")[:_LONGEST_NAME]
        return f"{words}-{self.key[:_KEY_DIGITS]}"

    @property
    def edition(self) -> str:
        return self.task_name.rpartition("/")[2]

    @property
    def run(self) -> RunId:
        plan = self.plan(Path(), "")
        return RunId(
            task=self.task_name.partition("@")[0],
            agent=plan.agent_label,
            model=plan.model_label,
            seed=self.seed,
        )

    def plan(self, out: Path, name: str) -> Plan:
        """Return the plan of an experiment `out/name` with this run alone."""
        return Plan(
            tasks=(self.task,),
            edition=self.edition,
            agent=self.agent,
            agent_name=self.agent_name,
            settings=self.settings,
            model=self.model,
            roles=self.roles,
            model_args=self.model_args,
            judge=self.judge,
            seeds=(self.seed,),
            budget=self.budget,
            patience=self.patience,
            prices=self.prices,
            out=out,
            name=name,
        )
