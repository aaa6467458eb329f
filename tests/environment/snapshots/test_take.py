"""Taking snapshots of workspaces, honest and hostile, and of a full disk."""

import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3

from mlagentbench.core.errors import RecordError, SandboxError
from mlagentbench.environment.snapshots.snapshot_store import (
    SnapshotLimits,
    SnapshotStore,
    StatCache,
)
from mlagentbench.environment.snapshots.take import WorkspaceReader

MB = 2**20
SETTLED = 0.06


def objects_of(folder: Path) -> dict[str, int]:
    paths = [path for path in (folder / "objects").rglob("*") if path.is_file()]
    return {path.parent.name + path.name: path.stat().st_ino for path in paths}


@pytest.fixture
def before_opening(monkeypatch) -> Callable[[Callable[[str], object]], None]:
    """Have something done whenever a file is about to be read for a snapshot."""
    opened = WorkspaceReader.opened

    def patch(do: Callable[[str], object]) -> None:
        monkeypatch.setattr(
            WorkspaceReader,
            "opened",
            lambda self, found: (do(found.path), opened(self, found))[1],
        )

    return patch


def test_objects_are_named_by_their_contents_and_stored_once(take, workspace, tmp_path):
    (workspace / "a.py").write_text("same")
    (workspace / "b.py").write_text("same")
    taken = take()
    assert (taken.files, taken.bytes_new, taken.skipped) == (2, 4, 0)
    assert set(objects_of(tmp_path / "snapshots")) == {
        f"b3-{blake3(b'same').hexdigest()}"
    }


def test_the_same_workspace_has_the_same_name_and_nothing_is_written(
    take, workspace, tmp_path
):
    (workspace / "a").mkdir()
    (workspace / "a" / "big").write_bytes(b"x" * 2 * MB)
    first = take()
    before = objects_of(tmp_path / "snapshots")
    os.utime(workspace / "a" / "big")
    second = take()
    assert (second.id, second.bytes_new) == (first.id, 0)
    assert objects_of(tmp_path / "snapshots") == before


def test_an_unchanged_file_is_not_read_again(take, workspace, before_opening):
    opened_paths = []
    before_opening(opened_paths.append)
    (workspace / "a").write_text("1")
    (workspace / "b").write_text("2")
    time.sleep(SETTLED)
    take()
    (workspace / "b").write_text("3")
    take()
    assert sorted(opened_paths) == ["a", "b", "b"]


def test_a_forged_modification_time_hides_nothing(take, workspace):
    file = workspace / "a"
    file.write_text("1111")
    status = file.stat()
    time.sleep(SETTLED)
    first = take()
    file.write_text("2222")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert take().id != first.id


def test_a_file_written_right_after_it_was_read_is_not_mistaken(take, workspace):
    seen = set()
    for number in range(200):
        (workspace / "a").write_text(f"{number:04}")
        seen.add(take().id)
    assert len(seen) == 200


def test_a_cache_of_another_store_is_not_trusted(store, workspace, tmp_path):
    (workspace / "a").write_text("1")
    time.sleep(SETTLED)
    cache = StatCache()
    store.take(workspace, previous=cache)
    other = SnapshotStore(tmp_path / "other")
    other.take(workspace, previous=cache)
    assert other.verify() == []


def test_what_is_mounted_read_only_is_left_out(take, store, workspace):
    (workspace / "data").mkdir()
    (workspace / "data" / "train.csv").write_text("1")
    (workspace / "evaluate.py").write_text("1")
    (workspace / "sub" / "data").mkdir(parents=True)
    (workspace / "sub" / "data" / "mine").write_text("1")
    names = [entry.name for entry in store.manifest(take().id).entries]
    assert names == ["sub", "sub/data", "sub/data/mine"]


def test_links_pipes_devices_and_second_names_are_named_but_not_read(
    take, reasons, workspace, tmp_path
):
    secret = tmp_path / "secret"
    secret.write_text("label")
    (workspace / "link").symlink_to(secret)
    (workspace / "folder-link").symlink_to(tmp_path)
    os.mkfifo(workspace / "pipe")
    os.link(secret, workspace / "second-name")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(workspace / "socket"))
    if os.geteuid() == 0:
        os.mknod(workspace / "device", 0o600 | 0o020000, os.makedev(1, 5))
    taken = take()
    expected = {
        "folder-link": "it is a symbolic link",
        "link": "it is a symbolic link",
        "pipe": "it is a named pipe",
        "second-name": "it has more than one name",
        "socket": "it is a socket",
    }
    if os.geteuid() == 0:
        expected["device"] = "it is a device"
    assert reasons(taken.id) == expected
    assert (taken.files, taken.skipped) == (0, len(expected))
    assert objects_of(tmp_path / "snapshots") == {}


def test_a_link_put_in_place_of_a_listed_file_is_not_followed(
    take, store, workspace, tmp_path, before_opening
):
    (tmp_path / "secret").write_text("label")
    (workspace / "a").write_text("mine")

    def swap(path: str) -> None:
        (workspace / path).unlink()
        (workspace / path).symlink_to(tmp_path / "secret")

    before_opening(swap)
    [entry] = store.manifest(take().id).entries
    assert entry.skipped is not None
    assert entry.skipped.startswith("it cannot be read")


def test_dangerous_mode_bits_are_dropped(take, store, workspace):
    (workspace / "tool").write_text("x")
    (workspace / "tool").chmod(0o6755)
    (workspace / "folder").mkdir()
    (workspace / "folder").chmod(0o3777)
    modes = [entry.mode for entry in store.manifest(take().id).entries]
    assert modes == [0o777, 0o755]


def test_any_name_survives(take, store, workspace, tree_of, tmp_path):
    odd = (b"new\nline", b"\xff\xfe", b"tab\t\x1b[31m", b"-rf", b"x" * 255)
    for name in (*odd, "ü".encode()):
        Path(os.fsdecode(os.fsencode(workspace) + b"/" + name)).write_bytes(name)
    Path(os.fsdecode(os.fsencode(workspace) + b"/\xfd")).mkdir()
    taken = take()
    assert taken.files == 6
    store.restore(taken.id, tmp_path / "back")
    assert tree_of(tmp_path / "back") == tree_of(workspace)


def test_deep_folders_are_stored_and_those_without_a_path_are_named(
    take, store, workspace, tree_of, tmp_path
):
    deep = workspace.joinpath(*["d" * 99] * 30)
    deep.mkdir(parents=True)
    (deep / "file").write_text("deep")
    first = take()
    assert (first.files, first.skipped) == (1, 0)
    store.restore(first.id, tmp_path / "b")
    assert tree_of(tmp_path / "b") == tree_of(workspace)
    descriptor = os.open(deep, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("e" * 99, dir_fd=descriptor)
        inner = os.open("e" * 99, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    second = take()
    assert (second.files, second.skipped) == (1, 1)


def test_a_file_that_grows_while_it_is_read_is_cut_at_its_listed_size(
    take, store, workspace, before_opening
):
    (workspace / "log").write_bytes(b"a" * 3 * MB)
    before_opening(lambda _: (workspace / "log").write_bytes(b"a" * 3 * MB + b"b" * MB))
    [entry] = store.manifest(take().id).entries
    assert entry.size == 3 * MB
    assert entry.holds(b"a" * 3 * MB)


def sparse(path: Path, size: int, data: dict[int, bytes]) -> None:
    with path.open("wb") as file:
        for start, part in data.items():
            file.seek(start)
            file.write(part)
        file.truncate(size)


def disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


def test_holes_stay_holes_in_the_store_and_when_restored(
    take, store, workspace, tmp_path, tree_of
):
    sparse(workspace / "large", 80 * MB, {10 * MB: b"x", 79 * MB: b"y" * 10})
    sparse(workspace / "only a hole", 50 * MB, {})
    for number in range(50):
        sparse(workspace / f"small {number}", MB - number, {number: b"z"})
    taken = take()
    assert disk(tmp_path / "snapshots") < 3 * MB
    assert taken.disk_new < 2 * MB
    restored = store.restore(taken.id, tmp_path / "back")
    assert (restored.files, restored.missing) == (52, ())
    assert disk(tmp_path / "back") < 2 * MB
    assert tree_of(tmp_path / "back") == tree_of(workspace)
    assert store.verify() == []


def test_a_sparse_file_has_the_name_of_its_contents(take, store, workspace):
    sparse(workspace / "sparse", 3 * MB, {MB: b"x"})
    (workspace / "dense").write_bytes((workspace / "sparse").read_bytes())
    one, two = store.manifest(take().id).entries
    assert one.object == two.object


def test_a_store_of_sha256_names_goes_on_with_them(take, store, workspace, tmp_path):
    # Digests of one kind can be compared: which files an execution changed.
    name = hashlib.sha256(b"old").hexdigest()
    old = tmp_path / "snapshots" / "objects" / name[:2] / name[2:]
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    (workspace / "a").write_bytes(b"old")
    (workspace / "b").write_bytes(b"x" * 2 * MB)
    taken = take()
    first, second = store.manifest(taken.id).entries
    assert first.object == first.sha256 == name
    assert second.sha256 == hashlib.sha256(b"x" * 2 * MB).hexdigest()
    assert taken.bytes_new == 2 * MB
    assert store.read(first) == b"old"
    assert store.verify() == []
    assert store.restore(taken.id, tmp_path / "back").files == 2


def test_files_written_all_the_while_leave_consistent_objects(take, store, workspace):
    file = workspace / "busy"
    file.write_bytes(b"0" * 4 * MB)
    stop = threading.Event()

    def scribble() -> None:
        with file.open("r+b") as busy:
            while not stop.is_set():
                busy.seek(0)
                busy.write(os.urandom(4 * MB))
                busy.truncate(MB)

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(10):
            take()
    finally:
        stop.set()
        writer.join()
    assert store.verify() == []


def test_what_is_over_the_size_is_left_out_largest_first(tmp_path, workspace):
    store = SnapshotStore(tmp_path / "s", limits=SnapshotLimits(mb=3))
    for name, size in {"small": 1, "middle": 2, "large": 4, "huge": 5}.items():
        (workspace / name).write_bytes(bytes(size * MB))
    with (workspace / "sparse").open("wb") as file:
        file.truncate(2**40)
    taken = store.take(workspace, previous=StatCache())
    stored = [each.name for each in store.manifest(taken.id).entries if each.object]
    assert stored == ["middle", "small"]
    assert (taken.files, taken.skipped) == (2, 3)


def test_what_is_over_the_number_is_left_out_largest_first(tmp_path, workspace):
    store = SnapshotStore(tmp_path / "s", limits=SnapshotLimits(files=3))
    for number in range(8):
        (workspace / str(number)).write_bytes(bytes(number))
    taken = store.take(workspace, previous=StatCache())
    stored = [each.name for each in store.manifest(taken.id).entries if each.object]
    assert stored == ["0", "1", "2"]
    assert taken.skipped == 3


def test_endless_links_do_not_make_an_endless_manifest(tmp_path, workspace):
    store = SnapshotStore(tmp_path / "s", limits=SnapshotLimits(files=3))
    for number in range(50):
        (workspace / str(number)).symlink_to("/")
    taken = store.take(workspace, previous=StatCache())
    assert len(store.manifest(taken.id).entries) == 3


def test_a_workspace_that_is_gone_is_the_sandboxs_fault(store, tmp_path):
    with pytest.raises(SandboxError, match="cannot be read"):
        store.take(tmp_path / "nowhere", previous=StatCache())


def test_a_store_that_cannot_be_is_said_in_one_sentence(workspace, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordError, match="cannot be written: Not a directory"):
        SnapshotStore(tmp_path / "file" / "s").take(workspace, previous=StatCache())


def test_a_half_object_is_not_trusted(take, store, workspace, tmp_path):
    (workspace / "a").write_bytes(b"x" * 2 * MB)
    taken = take()
    [path] = (tmp_path / "snapshots/objects").glob("*/*")
    path.chmod(0o644)
    path.write_bytes(b"x" * 10)
    again = store.take(workspace, previous=StatCache())
    assert (again.id, again.bytes_new) == (taken.id, 2 * MB)
    assert store.verify() == []


def test_files_left_out_for_size_are_named_in_one_warning(tmp_path, workspace, caplog):
    store = SnapshotStore(tmp_path / "s", limits=SnapshotLimits(mb=3))
    cache = StatCache()
    (workspace / "small").write_bytes(bytes(MB))
    store.take(workspace, previous=cache)
    assert caplog.messages == []
    (workspace / "huge\x1b[31m").write_bytes(bytes(4 * MB))
    store.take(workspace, previous=cache)
    store.take(workspace, previous=cache)
    [message] = caplog.messages
    assert "more than 3 MB" in message
    assert message.endswith(r": huge\x1b[31m")
    assert caplog.records[0].levelname == "WARNING"
    (workspace / "huge too").write_bytes(bytes(5 * MB))
    store.take(workspace, previous=cache)
    assert caplog.messages[1].endswith(": huge too")


@pytest.mark.parametrize("change", [lambda log: log.write_text("longer"), Path.unlink])
def test_a_file_changed_while_it_is_read_is_named_in_a_warning(
    take, workspace, before_opening, caplog, change
):
    log = workspace / "log"
    log.write_text("a")
    before_opening(lambda _: change(log))
    take()
    [message] = caplog.messages
    assert "changed while a snapshot was taken" in message
    assert message.endswith(": log")


FILL = """
import os, sys
from pathlib import Path
from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

disk, workspace = Path(sys.argv[1]), Path(sys.argv[2])
store, cache, ids = SnapshotStore(disk / "snapshots"), StatCache(), []
(workspace / "train.py").write_text("print(1)")
(workspace / "model").write_bytes(os.urandom(3 * 2**20))
first = store.take(workspace, previous=cache).id
refusals = set()
for step in range(20):
    name = "small" if step % 2 else "model"
    (workspace / name).write_bytes(os.urandom(2**18 if step % 2 else 3 * 2**20))
    try:
        store.take(workspace, previous=cache)
    except RecordError as error:
        refusals.add(str(error))
assert refusals == {
    f"the disk that holds {disk}/snapshots is full; "
    "free some space and run `mlab resume`"
}, refusals
assert store.verify() == []
assert list((disk / "snapshots" / "incoming").iterdir()) == []
assert store.restore(first, workspace).missing == ()
assert (workspace / "train.py").read_text() == "print(1)"
try:
    store.restore(first, disk / "back")
except RecordError as error:
    assert str(error).startswith(f"the disk that holds {disk}/back is full"), error
else:
    raise AssertionError("it cannot have had room")
assert store.prune([first]).objects > 0
assert store.take(workspace, previous=cache).id == first
print("done")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts file systems")
def test_a_full_disk_is_said_and_what_is_stored_stays_readable(tmp_path):
    disk, workspace = tmp_path / "disk", tmp_path / "workspace"
    disk.mkdir()
    workspace.mkdir()
    script = 'mount -t tmpfs -o size=8m tmpfs "$1" && exec "$2" -c "$3" "$1" "$4"'
    words = [str(disk), sys.executable, FILL, str(workspace)]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
    assert list(disk.iterdir()) == []
