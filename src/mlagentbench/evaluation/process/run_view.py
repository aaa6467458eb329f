"""RunView: a run as process checks read it, with the edits of each step."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from mlagentbench.core import (
    EXECUTING,
    READ_FILE,
    WRITE_FILE,
    WRITING,
    Ending,
    Finding,
    Step,
    Task,
    Trace,
    given,
    truncate,
    workspace_name,
)

QUOTE_CHARACTERS = 200


@dataclass(frozen=True)
class Edit:
    """One file that a step changed."""

    file: str
    content: str | None = None
    """The complete new text, if the step holds it."""


@dataclass(frozen=True)
class RunView:
    """One run as process checks see it: task, steps and grade."""

    task: Task
    trace: Trace
    score: float | None = None
    """None if there is no valid submission."""
    submission_error: str | None = None
    code: Mapping[str, str | None] = field(default_factory=dict)
    """The scripts of the final workspace by name, without the lines of the starter;
    None for one that is too long to be read."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the trace, in order."""
        return self.trace.steps

    @property
    def ending(self) -> Ending:
        """How the run ended; one without an end was interrupted."""
        return self.trace.end.ending if self.trace.end else Ending.INTERRUPTED

    @property
    def ended_itself(self) -> bool:
        """Whether the agent ended the run, not its budget or a fault."""
        return self.ending in {Ending.SUBMITTED, Ending.STOPPED}

    @cached_property
    def edits(self) -> tuple[tuple[Edit, ...], ...]:
        """The files that each step changed, by the index of the step."""
        return edits_of(self.steps)


def quoted(text: str) -> str:
    """Shorten a text to one line of a finding."""
    line = " ".join(text[: 4 * QUOTE_CHARACTERS].split())
    return truncate(line, QUOTE_CHARACTERS)


def found(text: str, why: str, *steps: Step) -> Finding:
    """Return a finding; the step at fault comes first, then the ones it refers to."""
    return Finding(steps=tuple(s.step for s in steps), quote=quoted(text), why=why)


_SEGMENT = re.compile(r"[^;\n|&]+")
_FILE = re.compile(r"(?<![\w./-])[\w./-]{1,200}\.(?:py|sh|csv)\b")
_REDIRECT = re.compile(r">>?[ \t]{0,9}([\w./-]{1,200})")
_OPENED = re.compile(
    r"(?:open\(|Path\()[ \t]{0,9}['\"]([\w./-]{1,200})['\"]"
    r"(?:[ \t]{0,9},[ \t]{0,9}['\"][wax]|\)\.write_)"
)
_IN_PLACE = ("sed -i", "perl -pi", "tee ", "patch ", "truncate ")
_ONTO = ("cp ", "mv ")


def edits_of(steps: tuple[Step, ...]) -> tuple[tuple[Edit, ...], ...]:
    """Return the edits of every step; writing the same content again is not one."""
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
        names = dict.fromkeys(_by_command(given(step, "command")))
        yield from (Edit(name) for name in names)
    elif step.ok and step.action in WRITING:
        content = given(step, "content") if step.action == WRITE_FILE.name else None
        yield Edit(workspace_name(given(step, WRITING[step.action])), content)


def _by_command(command: str) -> Iterator[str]:
    for match in chain(_REDIRECT.finditer(command), _OPENED.finditer(command)):
        yield workspace_name(match[1])
    for segment in _SEGMENT.finditer(command):
        words = segment[0].strip()
        if words.startswith(_IN_PLACE):
            yield from (workspace_name(name) for name in _FILE.findall(words))
        elif words.startswith(_ONTO) and (names := _FILE.findall(words)):
            yield workspace_name(names[-1])
