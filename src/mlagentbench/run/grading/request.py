"""What is asked of the process that takes the turns, and what it says."""

from pathlib import Path

from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.core.turns import Turns


class Request(Record):
    """One submission, to be run on every input of one split."""

    task: Task
    submission: Path
    """A folder with the collected files."""
    inputs: Path
    """A folder with one file per turn."""
    answers: Path
    """An empty folder for the outputs."""
    data: Path | None = None
    """What submissions may read as `data/` while they are judged."""
    cache: Path
    seconds: float
    """For all turns together; waiting for other gradings to end does not count."""


class Outcome(Record):
    """What came of it; exactly one of these is set."""

    turns: Turns | None = None
    refused: str | None = None
    """The submission's fault."""
    broken: str | None = None
    """Our fault: what is known to work does not work here either."""
