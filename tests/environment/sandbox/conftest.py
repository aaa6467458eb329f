"""A real sandbox for every test that wants one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlagentbench.core.limits import Limits
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.box import Box, Furnishing, open_box

MakeBox = Callable[..., Box]


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
    opened: list[Box] = []

    def make(limits: Limits | None = None, **furniture) -> Box:
        furnishing = Furnishing(agent_env=agent_env, **furniture)
        opened.append(open_box(rooms, furnishing, limits or Limits()))
        return opened[-1]

    yield make
    for box in opened:
        box.close()


@pytest.fixture
def box(make_box: MakeBox) -> Box:
    return make_box()
