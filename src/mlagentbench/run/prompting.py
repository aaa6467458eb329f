"""What a model saw at a step, found by replaying the agent up to it."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.context import Agent, Remaining
from mlagentbench.agents.table import find_agent, load_agent
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Spent, Step
from mlagentbench.run.asking import MAIN, request_sha
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.preparing import same_task
from mlagentbench.run.replay import Past
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.problem import problem


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    role: str
    messages: list[ChatMessage]


class _PastIsOver(BaseException):
    """Leaves the agent's code where the record ends."""


@dataclass
class _Rehearsal:
    """A context that has only a past."""

    task: Task
    problem: str
    settings: Mapping[str, str]
    rng: random.Random
    past: Past
    until: int
    spent: Spent = field(default_factory=Spent)
    prompts: list[Prompt] = field(default_factory=list)

    def remaining(self) -> Remaining:
        budget = self.task.budget
        seconds = max(0.0, budget.minutes * 60 - self.spent.seconds)
        return Remaining(steps=budget.steps - self.spent.steps, seconds=seconds)

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        sha = request_sha(messages, tools, config or GenerateConfig())
        call = self.past.call(role, sha)
        if call is None:
            raise _PastIsOver
        self.prompts.append(Prompt(role, list(messages)))
        return ModelOutput.model_validate(call.reply)

    async def act(self, action: str, **given: Any) -> Step:  # noqa: ANN401  # an action's own
        step = self.past.step(action, given)
        if step is None or step.step >= self.until:
            raise _PastIsOver
        self.spent = step.spent
        self.prompts.clear()
        return step


def prompts_of(experiment: Experiment, run: RunId, step: int) -> list[Prompt]:
    """Return every request that led to `step`, exactly as it was sent."""
    trace = read_trace(experiment.trace(run), str(run))
    if not 1 <= step <= len(trace.steps):
        raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
    asked = experiment.asked
    task = same_task(next(one for one in asked.tasks if one.id == run.task))
    agent = load_agent(find_agent(asked.agent))
    rehearsal = _Rehearsal(
        task=task,
        problem=problem(task),
        settings=asked.settings,
        rng=random.Random(str(run)),
        past=Past(trace),
        until=step,
    )
    asyncio.run(_rehearse(agent, rehearsal))
    return rehearsal.prompts


async def _rehearse(agent: Agent, rehearsal: _Rehearsal) -> None:
    with contextlib.suppress(_PastIsOver):
        await agent(rehearsal)
