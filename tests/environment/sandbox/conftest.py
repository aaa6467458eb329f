"""A real sandbox for every test that wants one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.sandbox import Sandbox, SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

MakeSandbox = Callable[..., Sandbox]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def agent_env(cache: Path) -> Path:
    return ensure_agent_env(cache, "base").path


@pytest.fixture
def sandboxes(tmp_path: Path) -> Path:
    return tmp_path / "sandboxes"


@pytest.fixture
def make_sandbox(sandboxes: Path, agent_env: Path) -> Iterator[MakeSandbox]:
    opened: list[Sandbox] = []

    def make(limits: Limits | None = None, **furniture) -> Sandbox:
        spec = SandboxSpec(agent_env=agent_env, **furniture)
        opened.append(open_sandbox(sandboxes, spec, limits or Limits()))
        return opened[-1]

    yield make
    for sandbox in opened:
        sandbox.close()


@pytest.fixture
def sandbox(make_sandbox: MakeSandbox) -> Sandbox:
    return make_sandbox()
