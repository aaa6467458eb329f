"""Replay of an agent on its record alone; the prompts of a step."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents import ProtocolName, Remaining
from mlagentbench.core import REJECTED, Fault, RunId, Step, Task, UsageError, encodable
from mlagentbench.experiment import Experiment, RecordedRun
from mlagentbench.run.budget import BudgetMeter
from mlagentbench.run.model_calls import MAIN, ModelRequest, preferred_protocol
from mlagentbench.run.outside_agent import runnable_agent
from mlagentbench.run.steps import rejected_input
from mlagentbench.tasks import problem


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    role: str
    messages: list[ChatMessage]


class EndOfRecord(BaseException):
    """Raised in the agent's code when the record ends."""


@dataclass
class ReplayContext:
    """A context that answers from a record and never runs anything."""

    task: Task
    problem: str
    settings: Mapping[str, str]
    protocol: ProtocolName
    rng: random.Random
    past: RecordedRun
    until: int
    """The step before which it ends."""
    budget: BudgetMeter
    prompts: list[Prompt] = field(default_factory=list)
    """Requests since the last step."""

    @property
    def speech(self) -> ProtocolName:
        """The old name of `protocol`, for outside agents."""
        return self.protocol

    def remaining(self) -> Remaining:
        return self.budget.remaining()

    def paused(self) -> AbstractContextManager[None]:
        return self.budget.paused()

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        request = ModelRequest(role, messages, tools, config or GenerateConfig())
        call = self.past.call(role, request.sha)
        if call is None:
            raise EndOfRecord
        self.prompts.append(Prompt(role, list(messages)))
        return ModelOutput.model_validate(call.reply)

    async def act(
        self,
        action: str,
        *,
        said: Mapping[str, str] | None = None,  # noqa: ARG002  # the record has it
        **given: str,
    ) -> Step:
        return self._step(action, encodable(given))

    async def reject(
        self,
        reply: str,
        why: str,  # noqa: ARG002  # the record has it
        *,
        counts: bool = True,  # noqa: ARG002
        fault: Fault = "bad_reply",  # noqa: ARG002
    ) -> Step:
        return self._step(REJECTED, rejected_input(reply))

    def _step(self, action: str, given: Mapping[str, str]) -> Step:
        step = self.past.step(action, given)
        if step is None or step.step >= self.until:
            raise EndOfRecord
        self.budget.start_step(step.spent)
        self.prompts.clear()
        return step


def prompts_of(experiment: Experiment, run: RunId, step: int) -> list[Prompt]:
    """Return every request of the agent that led to `step`, exactly as it was."""
    trace = experiment.trace(run)
    if not 1 <= step <= len(trace.steps):
        raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
    spec = experiment.spec
    task = experiment.task(next(one for one in spec.tasks if one.id == run.task))
    past = RecordedRun(trace)
    context = ReplayContext(
        task=task,
        problem=problem(task),
        settings=spec.settings,
        protocol=preferred_protocol(spec.protocol_model),
        rng=random.Random(spec.random_seed(run)),
        past=past,
        until=step,
        budget=BudgetMeter(task.budget, past),
    )
    experiment.require_agent()
    agent = runnable_agent(spec.agent)

    async def act() -> None:
        with contextlib.suppress(EndOfRecord):
            await agent(context)

    # The caller may already be inside an event loop, so use another thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, act()).result()
    return context.prompts
