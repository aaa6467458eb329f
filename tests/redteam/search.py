"""Beside the attacks that search by content: read everything that can be read."""

import os
import stat
import time

from evidence import failed, succeeded, visible_files

OURS = {"hints.json"}
LARGEST = 4_000_000
SECONDS = 40


def search(needles, near):
    """Say whether any visible text holds one of the needles."""
    looked = size = 0
    end = time.monotonic() + SECONDS
    for path in visible_files(near):
        text = _text(path)
        looked += text is not None
        size += len(text or b"")
        if text is not None and any(needle in text for needle in needles):
            succeeded(f"found in {path}")
            return
        if time.monotonic() > end:
            break
    else:
        failed(f"not in {looked} texts of {size // 10**6} MB")
        return
    raise TimeoutError(f"only {looked} files were searched; give the attack more time")


def _text(path):
    """Return a file's bytes if it is a text of ordinary size."""
    if os.path.basename(path) in OURS:
        return None
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size < LARGEST:
            return None
        with open(path, "rb") as file:
            head = file.read(1024)
            return None if b"\0" in head else head + file.read()
    except OSError:
        return None
