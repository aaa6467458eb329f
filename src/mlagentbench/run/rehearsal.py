"""An agent that is run on its past alone: no model is asked and nothing is done."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.context import Agent, Remaining, Speech
from mlagentbench.core.task import Task
from mlagentbench.core.trace import REJECTED, Fault, Step, Trace
from mlagentbench.run.account import Account
from mlagentbench.run.asking import MAIN, request_sha
from mlagentbench.run.rejecting import as_input
from mlagentbench.run.replay import Past
from mlagentbench.run.storable import storable


@dataclass(frozen=True)
class Prompt:
    """One request to a model."""

    role: str
    messages: list[ChatMessage]


class PastIsOver(BaseException):
    """Leaves the agent's code where the record ends."""


@dataclass
class Rehearsal:
    """A context that has only a past."""

    task: Task
    problem: str
    settings: Mapping[str, str]
    speech: Speech
    rng: random.Random
    past: Past
    until: int
    """The step before which it ends."""
    account: Account
    prompts: list[Prompt] = field(default_factory=list)
    """What was asked since the last step."""

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
            raise PastIsOver
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
        return self._step(action, storable(given))

    async def reject(
        self,
        reply: str,
        why: str,  # noqa: ARG002  # the record has it
        *,
        counts: bool = True,  # noqa: ARG002
        fault: Fault = "bad_reply",  # noqa: ARG002
    ) -> Step:
        """Return the step that was recorded then."""
        return self._step(REJECTED, as_input(reply))

    def _step(self, action: str, given: Mapping[str, str]) -> Step:
        step = self.past.step(action, given)
        if step is None or step.step >= self.until:
            raise PastIsOver
        self.account.spent = step.spent
        self.prompts.clear()
        return step


def try_settings(
    agent: Agent, task: Task, settings: Mapping[str, str], speech: Speech
) -> None:
    """Let an agent read its settings, up to the first thing it would do."""
    rehearse(
        agent,
        Rehearsal(
            task=task,
            problem="",
            settings=settings,
            speech=speech,
            rng=random.Random(0),
            past=Past(Trace(run="")),
            until=1,
            account=Account(task.budget),
        ),
    )


def rehearse(agent: Agent, rehearsal: Rehearsal) -> None:
    """Run an agent until its past is over."""

    async def act() -> None:
        with contextlib.suppress(PastIsOver):
            await agent(rehearsal)

    # In a thread of its own, because the caller may already be inside a loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, act()).result()
