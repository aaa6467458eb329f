"""Learn where the host keeps workspaces, data and labels, from the list of mounts."""

import os
from functools import partial
from pathlib import Path

from evidence import HINTS, conclude

WORDS = [os.path.dirname(HINTS["sandboxes"]), HINTS["cache"]]


def is_named(text):
    return any(word in text for word in WORDS)


def names_host(path):
    return is_named(Path(path).read_text())


FILES = ("self/mountinfo", "self/mounts", "self/mountstats", "1/mountinfo")
ways = {file: partial(names_host, f"/proc/{file}") for file in FILES}
conclude(ways | {"our own folder": lambda: is_named(os.getcwd())})
