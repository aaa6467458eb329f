"""Everything one task's runs need, gathered before the engine starts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from mlagentbench.agents.context import Agent
from mlagentbench.core.progress import RunObserver
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, SandboxUsed
from mlagentbench.core.task import Task
from mlagentbench.environment.sandbox.inspect_provider import BwrapConfig
from mlagentbench.environment.sandbox.sandbox import Mount, SandboxSpec
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.evaluation.cost import Price
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import ExperimentSpec, RetryLimits, model_label
from mlagentbench.tasks.prepare import Prepared


class Models(Record):
    """The language models of an experiment."""

    main: str
    roles: dict[str, str] = Field(default_factory=dict)
    args: dict[str, Any] = Field(default_factory=dict)
    """The provider's own settings."""
    patience: RetryLimits = RetryLimits()
    prices: dict[str, Price] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """The main model with those of other roles."""
        return model_label(self.main, self.roles)


def models_of(asked: ExperimentSpec) -> Models:
    """Return the models that an experiment was asked to use."""
    return Models(
        main=asked.model,
        roles=asked.roles,
        args=asked.model_args,
        patience=asked.patience,
        prices=asked.prices,
    )


@dataclass(frozen=True)
class Job:
    """One agent's work on one task."""

    task: Task
    """With the budget of this experiment."""
    prepared: Prepared
    problem: str
    agent: Agent
    agent_label: str
    models: Models
    settings: dict[str, str]
    experiment: Experiment
    rooms: Path
    agent_env: Path
    sandbox: SandboxUsed
    audience: RunObserver
    attempt: int = 1

    def run_id(self, seed: int) -> RunId:
        """Name one run of this order."""
        return RunId(
            task=self.task.id,
            agent=self.agent_label,
            model=self.models.label,
            seed=seed,
        )

    def sandbox_config(self, seed: int) -> BwrapConfig:
        """Say what the agent's room holds: public data and the starter, no more."""
        memory_mb = int(self.task.data.memory_gb * 1024)
        return BwrapConfig(
            rooms=self.rooms,
            limits=Limits(memory_mb=memory_mb),
            furnishing=SandboxSpec(
                agent_env=self.agent_env,
                starter=self.task.folder / "starter",
                mounts=self._read_only(),
                environment={"MLAB_SEED": str(seed)},
            ),
        )

    def _read_only(self) -> tuple[Mount, ...]:
        data = self.prepared.public / "data"
        metric = self.task.folder / "metric.py"
        mounts = [Mount(source=metric, target="/workspace/evaluate.py")]
        if data.is_dir():
            mounts.append(Mount(source=data, target="/workspace/data"))
        return tuple(mounts)
