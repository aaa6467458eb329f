"""Write to the read-only data and metric under every spelling of their names."""

import os
from functools import partial

from evidence import conclude

HERE = os.getcwd()


def change(path):
    with open(path, "a") as file:
        file.write("x")


os.makedirs("a", exist_ok=True)
NAMES = (
    "data/train.csv",
    "./data/train.csv",
    "data//train.csv",
    "a/../data/train.csv",
    f"{HERE}/data/train.csv",
    f"/{HERE}/data/train.csv",
    "evaluate.py",
    "./evaluate.py",
    "/proc/self/cwd/data/train.csv",
    "/proc/self/cwd/evaluate.py",
    f"/proc/self/root{HERE}/data/train.csv",
    "data/new.csv",
    "data/./.new",
)
conclude({name: partial(change, name) for name in NAMES})
