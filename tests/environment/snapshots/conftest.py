"""Workspaces to be stored, a store for them, and ways to look at both."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.snapshots.snapshot_store import (
    Snapshot,
    SnapshotStore,
    StatCache,
)

Tree = dict[bytes, tuple[int, bytes | None]]


def _tree_of(folder: Path) -> Tree:
    found: Tree = {}
    root = os.fsencode(folder)
    for above, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = above + b"/" + name
            mode = os.lstat(path).st_mode
            data = Path(os.fsdecode(path)).read_bytes() if stat.S_ISREG(mode) else None
            found[path.removeprefix(root + b"/")] = (stat.S_IMODE(mode), data)
    return found


@pytest.fixture(scope="session")
def tree_of() -> Callable[[Path], Tree]:
    """Permission bits and contents by path; None for what is no file."""
    return _tree_of


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


@pytest.fixture
def take(store: SnapshotStore, workspace: Path) -> Callable[[], Snapshot]:
    cache = StatCache()
    return lambda: store.take(workspace, previous=cache)


@pytest.fixture
def reasons(store: SnapshotStore) -> Callable[[str], dict[str, str]]:
    """Why things were left out of a snapshot, by path."""

    def of(name: str) -> dict[str, str]:
        entries = store.manifest(name).entries
        return {each.name: each.skipped for each in entries if each.skipped}

    return of


@pytest.fixture(scope="session")
def agent_env(cache: Path) -> Path:
    return ensure_agent_env(cache, "base").path
