"""Look into the home folder of whoever runs the benchmark, and into others."""

import os
import sys
from functools import partial

from evidence import HINTS, conclude

HOME = HINTS["home"]
PLACES = (HOME, f"{HOME}/.cache", "/home", "/root", "/var", "/srv", "/run", "/boot")


def holds_more_than_python(folder):
    # An interpreter that lies in a home folder is shown, with the folders above it.
    way_to_python = os.path.relpath(sys.base_prefix, folder).split("/")[0]
    return bool(set(os.listdir(folder)) - {way_to_python})


conclude({place: partial(holds_more_than_python, place) for place in PLACES})
