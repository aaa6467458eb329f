"""Answers of submitted code, which the grader of a code task reads.

They are a folder: `outputs/` holds one file for each input, of the same name and with
the bytes of the submission's answer, and `turns.json` has the time of each.
"""

from pathlib import Path

from mlagentbench.core.record import Record

OUTPUTS = "outputs"
TURNS = "turns.json"


class Turn(Record):
    """One input, answered by the submission and, if it is timed, by the starter."""

    input: str
    """The name of the input file and of the output file."""
    seconds: float
    starter_seconds: float | None = None
    """None if the task is not timed."""

    @property
    def ratio(self) -> float | None:
        """The submission's time as a share of the starter's."""
        if self.starter_seconds is None:
            return None
        return self.seconds / self.starter_seconds


class Turns(Record):
    """All turns of one submission, in the order they were taken."""

    turns: tuple[Turn, ...]

    @property
    def ratios(self) -> list[float]:
        """Every turn's ratio; empty if the task is not timed."""
        return [turn.ratio for turn in self.turns if turn.ratio is not None]


def read_turns(answers: Path) -> Turns:
    """Read how long each turn took; the harness wrote the file, not the submission."""
    return Turns.model_validate_json((answers / TURNS).read_bytes())
