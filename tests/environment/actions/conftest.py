"""A real workspace to act in, and a model with prepared replies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai.model import GenerateConfig
from tests.support.quick_task import QUICK_TASK

from mlagentbench.environment.action import ActionContext, Completion
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.inspect_provider import BwrapSandbox
from mlagentbench.environment.sandbox.sandbox import SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.tasks.load import load_task


class ScriptedModel:
    """Returns prepared replies, and records its prompts."""

    def __init__(self) -> None:
        self.replies: list[str | Completion | Exception] = []
        self.asked: list[str] = []
        self.roles: list[str] = []
        self.tokens: list[int | None] = []

    async def __call__(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        self.asked.append(prompt)
        self.roles.append(role)
        self.tokens.append(config.max_tokens)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply) if isinstance(reply, str) else reply


class Workspace:
    """A workspace whose every action is a step; it serves actions as a run does."""

    def __init__(self, sandbox: BwrapSandbox, model: ScriptedModel) -> None:
        self.sandbox = sandbox
        self.model = self.ask = model
        self.step_number = 0

    async def act(self, name: str, **given: str) -> str:
        self.step_number += 1
        problem = "Predict the price of ```houses```."
        task = load_task(QUICK_TASK)
        context = ActionContext(task, self.sandbox, problem, services=self)
        return await ACTIONS[name].perform(context, given)

    def seconds_left(self) -> float:
        return 20.0

    async def check_submission(self) -> None:
        return None

    async def restore(self, step: int) -> tuple[str, ...]:
        return ()

    async def read(self, name: str) -> str:
        return (await self.bytes_of(name)).decode()

    async def bytes_of(self, name: str) -> bytes:
        return await self.sandbox.read_file(f"/workspace/{name}", text=False)

    async def put(self, name: str, contents: str | bytes) -> None:
        await self.sandbox.write_file(f"/workspace/{name}", contents)

    async def has(self, name: str) -> bool:
        try:
            await self.bytes_of(name)
        except FileNotFoundError:
            return False
        return True


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def workspace(tmp_path: Path, cache: Path, model: ScriptedModel) -> Iterator[Workspace]:
    spec = SandboxSpec(agent_env=ensure_agent_env(cache, "base").path)
    sandbox = open_sandbox(tmp_path / "sandboxes", spec, Limits())
    yield Workspace(BwrapSandbox(sandbox, Limits()), model)
    sandbox.close()
