"""A real sandbox for every test that wants one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.sandbox import Sandbox, SandboxSpec, open_box
from mlagentbench.environment.sandbox.sandbox_spec import Limits

MakeBox = Callable[..., Sandbox]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def agent_env(cache: Path) -> Path:
    return ensure_agent_env(cache, "base").path


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    return tmp_path / "rooms"


@pytest.fixture
def make_box(rooms: Path, agent_env: Path) -> Iterator[MakeBox]:
    opened: list[Sandbox] = []

    def make(limits: Limits | None = None, **furniture) -> Sandbox:
        furnishing = SandboxSpec(agent_env=agent_env, **furniture)
        opened.append(open_box(rooms, furnishing, limits or Limits()))
        return opened[-1]

    yield make
    for box in opened:
        box.close()


@pytest.fixture
def box(make_box: MakeBox) -> Sandbox:
    return make_box()
