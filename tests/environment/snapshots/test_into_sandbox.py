"""Workspaces that go back into a sandbox through its interface alone."""

from collections.abc import Iterator

import pytest

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.box import Furnishing, Mount, open_box
from mlagentbench.environment.sandbox.provider import BwrapSandbox
from mlagentbench.environment.snapshots.packing import from_sandbox
from mlagentbench.environment.snapshots.store import StatCache
from mlagentbench.environment.snapshots.unpacking import into_sandbox

PLANT = """
import os
os.makedirs('out/empty'); os.chmod('out', 0o750)
open('out/model', 'wb').write(os.urandom(40 * 2**20))
open('-rf', 'w').write('dash'); os.chmod('-rf', 0o755)
open('a name', 'w').write('spaced')
"""
SPOIL = """
import os, shutil
shutil.rmtree('out'); os.mkdir('closed'); open('closed/x', 'w').close()
os.chmod('closed', 0); os.symlink('/etc', 'link'); open('a name', 'w').write('other')
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sandbox(tmp_path, agent_env) -> Iterator[BwrapSandbox]:
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.csv").write_text("read-only")
    data.chmod(0o755)
    furnishing = Furnishing(
        agent_env=agent_env,
        mounts=(Mount(source=data, target="/workspace/data"),),
    )
    limits = Limits(workspace_mb=200)
    box = open_box(tmp_path / "rooms", furnishing, limits)
    yield BwrapSandbox(box, limits)
    box.close()


async def snapshot(sandbox, store) -> str:
    async with from_sandbox(sandbox) as archive:
        return store.take(archive, previous=StatCache()).id


@pytest.mark.anyio
async def test_a_spoiled_workspace_comes_back_byte_for_byte(sandbox, store, tmp_path):
    assert (await sandbox.exec(["python", "-c", PLANT])).success
    before = await snapshot(sandbox, store)
    assert (await sandbox.exec(["python", "-c", SPOIL])).success
    store.restore(before, tmp_path / "restored")
    await into_sandbox(sandbox, tmp_path / "restored")
    assert await snapshot(sandbox, store) == before
    assert (await sandbox.exec(["ls", "/tmp"])).stdout == ""
    assert (await sandbox.exec(["cat", "data/train.csv"])).stdout == "read-only"


@pytest.mark.anyio
async def test_what_cannot_be_unpacked_is_said(sandbox, tmp_path):
    restored = tmp_path / "restored"
    (restored / "data").mkdir(parents=True)
    (restored / "data" / "train.csv").write_text("changed")
    with pytest.raises(SandboxError, match="could not be restored"):
        await into_sandbox(sandbox, restored)
