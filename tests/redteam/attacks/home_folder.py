"""Look into the home folder of whoever runs the benchmark, and into others."""

import os
from functools import partial

from evidence import HINTS, conclude


def list_folder(path):
    return bool(os.listdir(path))


PLACES = (HINTS["home"], f"{HINTS['home']}/.cache", "/home", "/root", "/var", "/srv",
          "/run", "/sys", "/boot")  # fmt: skip
conclude(
    # An interpreter under a home folder is shown, and its parents with it.
    {
        place: partial(list_folder, place)
        for place in PLACES
        if place not in HINTS["above_python"]
    }
    | {f"{HINTS['home']}/.bashrc": partial(open, f"{HINTS['home']}/.bashrc")}
)
