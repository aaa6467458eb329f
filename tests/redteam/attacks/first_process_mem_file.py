"""Write into the first process of the sandbox through its memory file."""

import os

from evidence import conclude, target_process

TARGET = target_process()


def write(rights):
    """Write what is there already, into the first mapping with such rights."""
    with open(f"/proc/{TARGET}/maps") as maps:
        line = next(line for line in maps if rights in line)
    start = int(line.partition("-")[0], 16)
    memory = os.open(f"/proc/{TARGET}/mem", os.O_RDWR)
    os.pwrite(memory, os.pread(memory, 8, start), start)


def task_file():
    os.close(os.open(f"/proc/{TARGET}/task/{TARGET}/mem", os.O_RDWR))


conclude(
    {
        "its data": lambda: write("rw-p"),
        "its code": lambda: write("r-xp"),
        "its thread's file": task_file,
    }
)
