"""Preparation of tasks: their data and the environments of their code.

Nothing here imports the engine, so that `mlab prepare` starts at once.
"""

from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core import AgentEnvName, Progress, Task, writing_to
from mlagentbench.environment import AgentEnv, ensure_agent_env
from mlagentbench.tasks import Prepared, prepare_task


@dataclass(frozen=True)
class Ready:
    """A task whose data and environment are in place."""

    task: Task
    prepared: Prepared
    agent_envs: dict[AgentEnvName, AgentEnv]
    """The environments of the agents' code and of graded code."""


def make_ready(task: Task, cache: Path, progress: Progress) -> Ready:
    """Build the task's data and the environments its code runs in, once."""
    with writing_to(cache):
        envs = {
            name: ensure_agent_env(cache, name, progress) for name in task.agent_envs
        }
        return Ready(task, prepare_task(task, cache, progress), envs)
