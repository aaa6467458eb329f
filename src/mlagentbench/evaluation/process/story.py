"""RunView: a trace as checks read it, with its edits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from mlagentbench.core.actions import (
    EXECUTING,
    READ_FILE,
    WRITE_FILE,
    WRITING,
    given,
    workspace_name,
)
from mlagentbench.core.scorecard import Finding
from mlagentbench.core.task import Task
from mlagentbench.core.text import truncate
from mlagentbench.core.trace import Ending, Step, Trace

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
class Edit:
    """One file that a step changed."""

    file: str
    content: str | None = None
    """The whole new text, where the step says it."""


@dataclass(frozen=True)
class RunView:
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
    return truncate(line, QUOTE_CHARACTERS)


def found(text: str, why: str, *steps: Step) -> Finding:
    """Return a finding; the step at fault comes first, then what it goes back to."""
    return Finding(steps=tuple(s.step for s in steps), quote=quoted(text), why=why)


_COMMAND_CHARACTERS = 20_000
_SEGMENT = re.compile(r"[;\n|&]+")
_FILE = re.compile(r"(?<![\w./-])[\w./-]{1,200}\.(?:py|sh|csv)\b")
_REDIRECT = re.compile(r">>?[ \t]{0,9}([\w./-]{1,200})")
_OPENED = re.compile(
    r"(?:open\(|Path\()[ \t]{0,9}['\"]([\w./-]{1,200})['\"]"
    r"(?:[ \t]{0,9},[ \t]{0,9}['\"][wax]|\)\.write_)"
)
_IN_PLACE = ("sed -i", "perl -pi", "tee ", "patch ", "truncate ")
_ONTO = ("cp ", "mv ")


def edits_of(steps: tuple[Step, ...]) -> tuple[tuple[Edit, ...], ...]:
    """Return what every step changed; writing what stands there already is no edit."""
    known: dict[str, str] = {}
    return tuple(tuple(_changes(step, known)) for step in steps)


def _changes(step: Step, known: dict[str, str]) -> Iterator[Edit]:
    if step.action == READ_FILE.name and step.ok:
        known[workspace_name(given(step, "file_name"))] = step.observation
    for edit in _written(step):
        before = known.pop(edit.file, None)
        if edit.content is not None:
            known[edit.file] = edit.content
        if before is None or before != edit.content:
            yield edit


def _written(step: Step) -> Iterator[Edit]:
    if step.action in EXECUTING:
        command = given(step, "command")[:_COMMAND_CHARACTERS]
        yield from (Edit(name) for name in dict.fromkeys(_by_command(command)))
    elif step.ok and step.action in WRITING:
        whole = given(step, "content") if step.action == WRITE_FILE.name else None
        yield Edit(workspace_name(given(step, WRITING[step.action])), whole)


def _by_command(command: str) -> Iterator[str]:
    for match in (*_REDIRECT.finditer(command), *_OPENED.finditer(command)):
        yield workspace_name(match[1])
    for segment in _SEGMENT.split(command):
        words = segment.strip()
        if words.startswith(_IN_PLACE):
            yield from (workspace_name(name) for name in _FILE.findall(words))
        elif words.startswith(_ONTO) and (names := _FILE.findall(words)):
            yield workspace_name(names[-1])
