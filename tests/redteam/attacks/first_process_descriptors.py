"""Take the open files and the view of the first process of the sandbox."""

import os

from evidence import call, conclude, target_process

TARGET = target_process()


def by_folder():
    return bool(os.listdir(f"/proc/{TARGET}/fd"))


def by_call():
    process = os.pidfd_open(TARGET)
    try:
        os.close(call("pidfd_getfd", process, 0, 0))
    finally:
        os.close(process)


conclude(
    {
        "its folder of files": by_folder,
        "pidfd_getfd": by_call,
        "its variables": lambda: os.close(
            os.open(f"/proc/{TARGET}/environ", os.O_RDONLY)
        ),
        "its mappings": lambda: bool(os.listdir(f"/proc/{TARGET}/map_files")),
    }
)
