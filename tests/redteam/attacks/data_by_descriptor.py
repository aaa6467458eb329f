"""Write to the read-only data through descriptors and mappings of it."""

import mmap
import os

from evidence import conclude

FILE = os.open("data/train.csv", os.O_RDONLY)
FOLDER = os.open("data", os.O_RDONLY)


def reopened():
    os.write(os.open(f"/proc/self/fd/{FILE}", os.O_WRONLY | os.O_APPEND), b"x")


def mapped():
    whole = os.open("data/train.csv", os.O_RDWR)
    mmap.mmap(whole, 10)[0:1] = b"x"


def below_folder():
    os.write(os.open("train.csv", os.O_WRONLY | os.O_APPEND, dir_fd=FOLDER), b"x")


def copied():
    source = os.open("train.py", os.O_RDONLY)
    os.copy_file_range(source, os.open("data/train.csv", os.O_WRONLY), 10)


conclude(
    {
        "opened again": reopened,
        "mapped": mapped,
        "below its folder": below_folder,
        "copied over": copied,
        "mode by descriptor": lambda: os.fchmod(FILE, 0o666),
        "length by descriptor": lambda: os.ftruncate(FILE, 0),
    }
)
