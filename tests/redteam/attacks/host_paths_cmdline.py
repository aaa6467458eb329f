"""Learn where the host keeps workspaces and data, from processes and their files."""

import os
from functools import partial
from pathlib import Path

from evidence import HINTS, conclude

WORDS = [os.path.dirname(HINTS["sandboxes"]), HINTS["cache"]]


def is_named(text):
    return any(word in text for word in WORDS)


def names_host(file):
    texts = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            texts.append((process / file).read_bytes())
        except OSError:
            continue
    return is_named(b"\0".join(texts).decode(errors="replace"))


FILES = ("cmdline", "environ", "maps", "cgroup", "stat")
ways = {file: partial(names_host, file) for file in FILES}
conclude(ways | {"our own folder": lambda: is_named(os.getcwd())})
