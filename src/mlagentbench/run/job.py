"""Job: everything one task's runs need, collected before the engine starts."""

from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core import RunId, RunObserver, SandboxUsed, Task
from mlagentbench.environment import BwrapConfig, Limits, Mount, SandboxSpec
from mlagentbench.experiment import Experiment, ExperimentSpec
from mlagentbench.run.outside_agent import RunnableAgent
from mlagentbench.tasks import Prepared


@dataclass(frozen=True)
class Job:
    """One agent's work on one task."""

    task: Task
    """With the budget of this experiment."""
    prepared: Prepared
    problem: str
    agent: RunnableAgent
    agent_digest: str
    """Of the code that this process runs; a resumed run may have started with other
    code, whose steps this code must have repeated."""
    spec: ExperimentSpec
    experiment: Experiment
    sandboxes: Path
    """The folder of all sandboxes."""
    agent_env: Path
    observer: RunObserver
    attempt: int = 1

    @property
    def sandbox(self) -> SandboxUsed:
        """The isolation that its scorecards record."""
        return SandboxUsed(provider=self.spec.sandbox, limits=self.spec.limits)

    def run_id(self, seed: int) -> RunId:
        return RunId(
            task=self.task.id,
            agent=self.spec.agent_label,
            model=self.spec.model_label,
            seed=seed,
        )

    def sandbox_config(self, seed: int) -> BwrapConfig:
        """Return the agent's sandbox: public data and the starter, nothing else."""
        data = self.task.data
        return BwrapConfig(
            sandboxes=self.sandboxes,
            limits=Limits(cpus=data.cpus, memory_mb=int(data.memory_gb * 1024)),
            spec=SandboxSpec(
                agent_env=self.agent_env,
                starter=self.task.part("starter"),
                mounts=visible_files(self.task, self.prepared),
                environment={"MLAB_SEED": str(seed)},
            ),
        )


def visible_files(task: Task, prepared: Prepared) -> tuple[Mount, ...]:
    """Return the metric and the data, which an agent sees beside the starter."""
    metric = Mount(source=task.part("metric.py"), target="/workspace/evaluate.py")
    data = prepared.public / "data"
    if not data.is_dir():
        return (metric,)
    return metric, Mount(source=data, target="/workspace/data")
