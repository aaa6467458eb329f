"""Which files a step changed: by an action made for it, or by a command."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import EXECUTING, TARGET, given, plain

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


@dataclass(frozen=True)
class Edit:
    """One file that a step changed."""

    file: str
    content: str | None = None
    """The whole new text, where the step says it."""


def edits_of(steps: tuple[Step, ...]) -> tuple[tuple[Edit, ...], ...]:
    """Return what every step changed; writing what stands there already is no edit."""
    known: dict[str, str] = {}
    return tuple(tuple(_changes(step, known)) for step in steps)


def _changes(step: Step, known: dict[str, str]) -> Iterator[Edit]:
    if step.action == "Read File" and step.ok:
        known[plain(given(step, "file_name"))] = step.observation
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
    elif step.ok and step.action in TARGET:
        whole = given(step, "content") if step.action == "Write File" else None
        yield Edit(plain(given(step, TARGET[step.action])), whole)


def _by_command(command: str) -> Iterator[str]:
    for match in (*_REDIRECT.finditer(command), *_OPENED.finditer(command)):
        yield plain(match[1])
    for segment in _SEGMENT.split(command):
        words = segment.strip()
        if words.startswith(_IN_PLACE):
            yield from (plain(name) for name in _FILE.findall(words))
        elif words.startswith(_ONTO) and (names := _FILE.findall(words)):
            yield plain(names[-1])
