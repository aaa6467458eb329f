"""The cache folder of this machine."""

import os
from pathlib import Path

import platformdirs


def default_cache() -> Path:
    """Return `MLAB_CACHE`, or the user's own cache folder."""
    chosen = os.environ.get("MLAB_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return platformdirs.user_cache_path("mlagentbench")


def sandbox_root(cache: Path) -> Path:
    """Return the folder that holds the folders of open sandboxes."""
    return cache / "sandboxes"
