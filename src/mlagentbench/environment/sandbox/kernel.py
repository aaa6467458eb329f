"""Who we are to the kernel, and what this kernel can do."""

import os
import platform
import re


def as_root() -> bool:
    """Whether the host user is root, which decides how sandboxes are kept apart."""
    return os.geteuid() == 0


def kernel_version() -> tuple[int, int]:
    """Return the running kernel's version."""
    return version_in(platform.release())


def version_in(text: str) -> tuple[int, int]:
    """Return the first `major.minor` in a text; (0, 0) if there is none."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (0, 0) if found is None else (int(found[1]), int(found[2]))


def processes_are_counted() -> bool:
    """Whether a process limit holds for one sandbox alone.

    Root gives each sandbox a user of its own; others need a kernel that counts
    processes in each user namespace for itself.
    """
    return as_root() or kernel_version() >= (5, 14)
