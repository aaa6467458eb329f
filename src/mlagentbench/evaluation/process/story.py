"""A run as the checks read it, with what several of them want to know."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from mlagentbench.core.ending import Ending
from mlagentbench.core.finding import Finding
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step, Trace
from mlagentbench.evaluation.process.edits import Edit, edits_of

QUOTE_CHARACTERS = 200


class Judged(Protocol):
    """What a check must know of how a submission was judged."""

    @property
    def score(self) -> float | None:
        """What the submission scored; None where there is no valid one."""
        ...

    @property
    def submission_error(self) -> str | None:
        """Why there is no score."""
        ...


@dataclass(frozen=True)
class Story:
    """One run: what was asked, what was done, and what came of it."""

    task: Task
    trace: Trace
    verdict: Judged

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done, in order."""
        return self.trace.steps

    @property
    def ending(self) -> Ending:
        """How the run ended; one without an end was cut off."""
        return self.trace.end.ending if self.trace.end else Ending.INTERRUPTED

    @property
    def ended_itself(self) -> bool:
        """Whether the agent ended the run, not its budget or a fault."""
        return self.ending in {Ending.SUBMITTED, Ending.STOPPED}

    @cached_property
    def edits(self) -> tuple[tuple[Edit, ...], ...]:
        """What each step changed, by the index of the step."""
        return edits_of(self.steps)


def quoted(text: str) -> str:
    """Return text short enough to stand in a finding, on one line."""
    line = " ".join(text[: 4 * QUOTE_CHARACTERS].split())
    shown = line[: QUOTE_CHARACTERS - 3]
    return line if len(line) <= QUOTE_CHARACTERS else f"{shown}..."


def found(text: str, why: str, *steps: Step) -> Finding:
    """Return a finding; the step at fault comes first, then what it goes back to."""
    return Finding(steps=tuple(s.step for s in steps), quote=quoted(text), why=why)
