"""Random workspaces and changes are restored byte for byte."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlagentbench.environment.snapshots import objects
from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache

SUBMISSION = ("submission",)
LARGE = 5000

names = st.binary(min_size=1, max_size=12).filter(
    lambda name: not {0, ord("/")} & set(name) and name not in (b".", b"..")
) | st.sampled_from([b"submission", b"a", b"b"])
paths = st.lists(names, min_size=1, max_size=4).map(b"/".join)
# An ordinary user cannot look into what it has closed to itself.
READABLE = 0 if os.geteuid() == 0 else 0o600
modes = st.integers(0, 0o777).map(lambda mode: mode | READABLE)
files = st.tuples(st.binary(max_size=4), st.sampled_from([0, 1, 700, 3000]), modes)
trees = st.dictionaries(paths, st.none() | files, max_size=8)
steps = st.lists(trees, min_size=1, max_size=5)


def build(tree, root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()
    for path, file in tree.items():
        whole = Path(os.fsdecode(os.fsencode(root) + b"/" + path))
        try:
            whole.parent.mkdir(parents=True, exist_ok=True)
            if file is None:
                whole.mkdir(exist_ok=True)
            else:
                whole.write_bytes(file[0] * file[1])
                whole.chmod(file[2])
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, best=st.integers(0, 4))
def test_what_is_not_dropped_is_restored_byte_for_byte(
    steps, best, tree_of, monkeypatch
):
    monkeypatch.setattr(objects, "LARGE", LARGE)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        root.mkdir()
        store, cache = SnapshotStore(Path(folder) / "s"), StatCache()
        ids, wanted = [], []
        for tree in steps:
            build(tree, root)
            ids.append(store.take(root, previous=cache).id)
            wanted.append(
                {p: v for p, v in tree_of(root).items() if not _is_mounted(p)}
            )
            store.retain(ids, ids[min(best, len(ids) - 1)], SUBMISSION)
        for step, (name, tree) in enumerate(zip(ids, wanted, strict=True)):
            restored = store.restore(name, root)
            back = {p: v for p, v in tree_of(root).items() if not _is_mounted(p)}
            lost = {path for path in tree if path not in back}
            assert {p: v for p, v in tree.items() if p not in lost} == back
            assert len(lost) == len(restored.missing)
            assert all(_may_be_dropped(path, tree) for path in lost)
            if step in (len(ids) - 1, min(best, len(ids) - 1)):
                assert not lost
        assert store.verify() == []


def _is_mounted(path: bytes) -> bool:
    return path.split(b"/")[0] in (b"data", b"evaluate.py")


def _may_be_dropped(path: bytes, tree) -> bool:
    large = len(tree[path][1] or b"") > LARGE
    return large and path.split(b"/")[0] != b"submission"
