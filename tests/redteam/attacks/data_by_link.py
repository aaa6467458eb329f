"""Write to the read-only data through links to it."""

import os

from evidence import conclude


def change(path):
    with open(path, "a") as file:
        file.write("x")


def through(link, make, target, name=""):
    def way():
        make(target, link)
        change(link + name)

    return way


conclude(
    {
        "symbolic to the file": through("s1", os.symlink, "data/train.csv"),
        "symbolic to the folder": through("s2", os.symlink, "data", "/train.csv"),
        "symbolic to the metric": through("s3", os.symlink, "evaluate.py"),
        "hard to the file": through("h1", os.link, "data/train.csv"),
        "hard to the metric": through("h2", os.link, "evaluate.py"),
        "a link made in it": lambda: os.symlink("/", "data/link"),
    }
)
