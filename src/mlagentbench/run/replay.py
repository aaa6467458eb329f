"""An agent run on its record alone; prompts of a step."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.catalogue import find_agent, load_agent
from mlagentbench.agents.context import Agent, ProtocolName, Remaining
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.text import encodable
from mlagentbench.core.trace import REJECTED, Fault, Step
from mlagentbench.experiment.experiment import Experiment, same_task
from mlagentbench.experiment.trace_file import RecordedRun
from mlagentbench.run.budget import BudgetMeter
from mlagentbench.run.model_calls import MAIN, preferred_protocol, request_sha
from mlagentbench.run.steps import rejected_input
from mlagentbench.tasks.load import problem


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    role: str
    messages: list[ChatMessage]


class EndOfRecord(BaseException):
    """Leaves the agent's code where the record ends."""


@dataclass
class ReplayContext:
    """A context that has only a past."""

    task: Task
    problem: str
    settings: Mapping[str, str]
    protocol: ProtocolName
    rng: random.Random
    past: RecordedRun
    until: int
    """The step before which it ends."""
    account: BudgetMeter
    prompts: list[Prompt] = field(default_factory=list)
    """What was asked since the last step."""

    @property
    def speech(self) -> ProtocolName:
        """The old name of `protocol`, for outside agents."""
        return self.protocol

    def remaining(self) -> Remaining:
        """Tell what was left of the budget then."""
        return self.account.remaining()

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        """Answer as the model did then."""
        sha = request_sha(messages, tools, config or GenerateConfig())
        call = self.past.call(role, sha)
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
        """Return what came of it then."""
        return self._step(action, encodable(given))

    async def reject(
        self,
        reply: str,
        why: str,  # noqa: ARG002  # the record has it
        *,
        counts: bool = True,  # noqa: ARG002
        fault: Fault = "bad_reply",  # noqa: ARG002
    ) -> Step:
        """Return the step that was recorded then."""
        return self._step(REJECTED, rejected_input(reply))

    def _step(self, action: str, given: Mapping[str, str]) -> Step:
        step = self.past.step(action, given)
        if step is None or step.step >= self.until:
            raise EndOfRecord
        self.account.spent = step.spent
        self.prompts.clear()
        return step


def replay_agent(agent: Agent, rehearsal: ReplayContext) -> None:
    """Run an agent until its past is over."""

    async def act() -> None:
        with contextlib.suppress(EndOfRecord):
            await agent(rehearsal)

    # In a thread of its own, because the caller may already be inside a loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, act()).result()


def prompts_of(experiment: Experiment, run: RunId, step: int) -> list[Prompt]:
    """Return every request of the agent's that led to `step`, exactly as it was."""
    trace = experiment.trace(run)
    if not 1 <= step <= len(trace.steps):
        raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
    asked = experiment.spec
    task = same_task(next(one for one in asked.tasks if one.id == run.task))
    rehearsal = ReplayContext(
        task=task,
        problem=problem(task),
        settings=asked.settings,
        protocol=preferred_protocol(asked.model),
        rng=random.Random(str(run)),
        past=RecordedRun(trace),
        until=step,
        account=BudgetMeter(task.budget),
    )
    replay_agent(load_agent(find_agent(asked.agent)), rehearsal)
    return rehearsal.prompts
