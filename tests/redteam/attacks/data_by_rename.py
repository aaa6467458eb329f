"""Move the read-only data away and put our own in its place."""

import os
import shutil

from evidence import conclude, in_child


def replace_folder():
    os.mkdir("mine")
    os.rename("mine", "data")


def replace_metric():
    with open("mine.py", "w") as file:
        file.write("def metric(): return 0\n")
    os.rename("mine.py", "evaluate.py")


def rename(old, new):
    return lambda: in_child(lambda: os.rename(old, new))


conclude(
    {
        "metric replaced": replace_metric,
        "row file away": rename("data/train.csv", "gone.csv"),
        "metric away": rename("evaluate.py", "gone.py"),
        "metric removed": lambda: os.unlink("evaluate.py"),
        "data away": rename("data", "gone"),
        "data replaced": replace_folder,
        "data removed": lambda: shutil.rmtree("data"),
        "workspace away": rename("../workspace", "../gone"),
    }
)
