"""What came of one command in a sandbox."""

from typing import Literal

from mlagentbench.core.record import Record

Killed = Literal["timeout", "memory", "disk"]


class Execution(Record):
    """A command that has ended, with everything it started."""

    returncode: int
    """128 + n where signal n ended it, as a shell would say it."""
    stdout: bytes
    stderr: bytes
    truncated: bool = False
    """Whether the middle of an output stream was dropped."""
    seconds: float
    killed: Killed | None = None
    """Which limit ended it, if one did."""
