"""The folders of this machine: the cache, and scratch for open sandboxes."""

import os
from pathlib import Path

import platformdirs


def default_cache() -> Path:
    """Return `MLAB_CACHE`, or the user's own cache folder."""
    chosen = os.environ.get("MLAB_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return platformdirs.user_cache_path("mlagentbench")


def scratch_root(cache: Path) -> Path:
    """Return `MLAB_SCRATCH`, or the cache: a folder that no other machine uses.

    Processes lock folders in it with `flock`, which network file systems may not have.
    """
    chosen = os.environ.get("MLAB_SCRATCH")
    return Path(chosen).expanduser().absolute() if chosen else cache


def sandbox_root(cache: Path) -> Path:
    """Return the folder that holds the folders of open sandboxes."""
    folder = scratch_root(cache) / "sandboxes"
    if not hasattr(os, "geteuid"):
        return folder
    # The folder is closed to other users, who may share the cache.
    try:
        own = folder.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        own = True
    return folder if own else folder.with_name(f"sandboxes-{os.geteuid()}")
