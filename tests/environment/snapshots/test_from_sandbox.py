"""Workspaces that come out of a sandbox as an archive."""

import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.box import Furnishing, Mount, open_box
from mlagentbench.environment.sandbox.provider import BwrapSandbox
from mlagentbench.environment.snapshots.archive import Archive
from mlagentbench.environment.snapshots.packing import from_sandbox
from mlagentbench.environment.snapshots.store import SnapshotLimits, StatCache

MB = 2**20
MakeArchive = Callable[..., Archive]
PLANT = """
import os
os.makedirs('out/empty'); os.chmod('out', 0o750)
open('out/model', 'wb').write(os.urandom(40 * 2**20))
open(b'\\xff\\nname', 'w').write('odd'); open('-rf', 'w').write('dash')
os.chmod('-rf', 0o4755)
os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe')
open('one', 'w').write('x'); os.link('one', 'two')
deep = '/'.join(['d' * 90] * 30); os.makedirs(deep); open(deep + '/f', 'w').close()
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def sandbox(tmp_path, agent_env) -> Iterator[BwrapSandbox]:
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.csv").write_text("not to be stored")
    data.chmod(0o755)
    furnishing = Furnishing(
        agent_env=agent_env,
        mounts=(Mount(source=data, target="/workspace/data"),),
    )
    limits = Limits(workspace_mb=200)
    box = open_box(tmp_path / "rooms", furnishing, limits)
    yield BwrapSandbox(box, limits)
    box.close()


@pytest.mark.anyio
async def test_both_ways_give_the_same_snapshot(sandbox, store, tmp_path, tree_of):
    done = await sandbox.exec(["python", "-c", PLANT])
    assert done.success, done.stderr
    direct = store.take(sandbox.box.workspace, previous=StatCache())
    async with from_sandbox(sandbox) as archive:
        packed = store.take(archive, previous=StatCache())
    assert (packed.id, packed.bytes_new) == (direct.id, 0)
    assert packed.skipped == 4
    left = await sandbox.exec(["ls", "/tmp"])
    assert left.stdout == ""


@pytest.mark.anyio
async def test_an_empty_workspace_is_a_snapshot_too(sandbox, store):
    async with from_sandbox(sandbox) as archive:
        taken = store.take(archive, previous=StatCache())
    assert (taken.files, taken.notice) == (0, None)


@pytest.mark.anyio
async def test_an_endless_file_is_not_packed_but_named(sandbox, store):
    await sandbox.exec(["truncate", "-s", "1G", "sparse"])
    await sandbox.write_file("small", "x")
    await sandbox.write_file("closed", "x")
    await sandbox.exec(["chmod", "000", "closed"])
    async with from_sandbox(sandbox, SnapshotLimits(mb=100)) as archive:
        taken = store.take(archive, previous=StatCache())
    reasons = {e.name: e.skipped for e in store.manifest(taken.id).entries}
    assert reasons == {
        "closed": "it cannot be read",
        "small": None,
        "sparse": "the snapshot is full",
    }
    assert taken.notice is not None
    assert "the largest sparse" in taken.notice


@pytest.mark.anyio
async def test_more_than_a_snapshot_holds_is_cut_and_said(sandbox, store):
    for name in "abc":
        await sandbox.write_file(name, os.urandom(MB))
    limits = SnapshotLimits(files=1, mb=2)
    async with from_sandbox(sandbox, limits) as archive:
        taken = store.take(archive, previous=StatCache())
    assert taken.notice is not None
    assert "not even looked at" in taken.notice
    assert store.verify() == []


@pytest.mark.anyio
async def test_a_sandbox_that_is_gone_is_the_sandboxs_fault(sandbox):
    sandbox.box.close()
    with pytest.raises(SandboxError, match="closed"):
        async with from_sandbox(sandbox):
            pass


@pytest.fixture
def archive_with() -> Iterator[MakeArchive]:
    """Make an archive of any bytes."""
    with ExitStack() as files:

        def make(data: bytes, *, cut: bool = False) -> Archive:
            file = files.enter_context(tempfile.TemporaryFile())
            file.write(data)
            return Archive(file, b"", SnapshotLimits(), cut=cut)

        yield make


def packed(*members: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for each in members:
            tar.addfile(each, io.BytesIO(b"x" * each.size))
    return file.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info


def test_members_that_would_lead_out_are_not_even_named(archive_with):
    names = ["../up", "/abs", "a/../../b", "", ".", "a//b", "x" * 300, "data/x"]
    archive = archive_with(packed(*map(member, names), member("./good", size=3)))
    assert [found.path for found in archive.found()] == ["good"]


def test_links_devices_and_strange_members_are_skipped(archive_with):
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"?"]
    members = [member(f"m{number}", kind) for number, kind in enumerate(kinds)]
    found = archive_with(packed(*members)).found()
    assert len(found) == 5
    assert all(each.skipped for each in found)


def test_a_file_below_a_file_and_a_second_of_one_name_are_left_out(
    archive_with, store, tmp_path
):
    members = member("a", size=2), member("a/b", size=1), member("a", size=4)
    taken = store.take(archive_with(packed(*members)), previous=StatCache())
    [entry] = store.manifest(taken.id).entries
    assert (entry.name, entry.size) == ("a", 2)
    store.restore(taken.id, tmp_path / "back")


def test_a_cut_archive_gives_what_is_whole_in_it(archive_with):
    data = packed(member("a", size=1000), member("b", size=5000))[:4000]
    assert [each.path for each in archive_with(data, cut=True).found()] == ["a"]


@pytest.mark.parametrize("data", [b"", b"no archive at all", b"\xa5" * 5000])
def test_what_is_no_archive_is_the_sandboxs_fault(archive_with, data):
    with pytest.raises(SandboxError, match="cannot be read"):
        archive_with(data).found()


def test_a_header_cannot_ask_for_all_memory(archive_with):
    header = member("././@LongLink", tarfile.GNUTYPE_LONGNAME, 2**32)
    with pytest.raises(SandboxError, match="too long"):
        archive_with(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024)).found()


def test_a_chain_of_headers_does_not_exhaust_the_stack(archive_with):
    header = member("././@LongLink", tarfile.GNUTYPE_LONGNAME, 1)
    block = header.tobuf(tarfile.GNU_FORMAT) + bytes(512)
    with pytest.raises(SandboxError, match="cannot be read"):
        archive_with(block * 5000).found()


def test_a_sparse_member_does_not_become_endless_zeros(archive_with):
    data = packed(member("sparse", tarfile.GNUTYPE_SPARSE))
    # The real size stands at 483 in a header of this kind.
    data = data[:483] + b"77777777777\0" + data[495:]
    checksum = sum(data[:148]) + sum(data[156:512]) + 8 * 32
    data = data[:148] + b"%06o\0 " % checksum + data[156:]
    [found] = archive_with(data).found()
    assert found.skipped is not None
