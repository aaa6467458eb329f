"""Cutting a reply apart at its headers: `Thought: ...`, `**Action:** ...`."""

import re
from collections.abc import Iterable

from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.naming import bare

ACTION = "Action"
ACTION_INPUT = "Action Input"
OBSERVATION = "Observation"
BEFORE = ""
"""Names what stands before the first header."""

Section = tuple[str, str]

_COLON = re.compile("[:\uff1a]")  # the second is what Chinese models write
_EMPHASIS = "*_`"
_MARKS = _EMPHASIS + "#> \t"
_LONGEST = 80


def sections(text: str, form: Form) -> list[Section]:
    """Return each section's name and text; what follows an observation is dropped."""
    names = _by_bare_name([*form.fields, ACTION, ACTION_INPUT, OBSERVATION])
    found: list[tuple[str, list[str]]] = [(BEFORE, [])]
    for line in text.split("\n"):
        header = _header(line, names)
        if header is None:
            found[-1][1].append(line)
        elif header[0] == OBSERVATION:
            break
        else:
            found.append((header[0], [header[1]]))
    return [(name, "\n".join(lines).strip()) for name, lines in found]


def without_observations(text: str) -> str:
    """Return a reply up to the first observation its author made up."""
    names = _by_bare_name([OBSERVATION])
    kept: list[str] = []
    for line in text.split("\n"):
        if _header(line, names) is not None:
            break
        kept.append(line)
    return "\n".join(kept).rstrip()


def texts_of(found: Iterable[Section], wanted: str) -> list[str]:
    """Return what stands in the sections of one name."""
    return [text for name, text in found if name == wanted]


def fields_said(found: Iterable[Section], form: Form) -> dict[str, str]:
    """Return the form's fields; what has no header is taken for the first of them."""
    said: dict[str, list[str]] = {}
    first = form.fields[0] if form.fields else "Thought"
    for name, text in found:
        field = first if name == BEFORE else name
        if text and field not in (ACTION, ACTION_INPUT):
            said.setdefault(field, []).append(text)
    return {field: "\n".join(texts) for field, texts in said.items()}


def _by_bare_name(names: Iterable[str]) -> dict[str, str]:
    return {bare(name): name for name in names}


def _header(line: str, names: dict[str, str]) -> Section | None:
    colon = _COLON.search(line, 0, _LONGEST)
    head = line[: colon.start()] if colon else line[:_LONGEST]
    stripped = head.strip(_MARKS)
    if colon is None and (stripped == line.strip() or len(line) >= _LONGEST):
        return None  # A word on a line of its own is no header without any mark.
    name = names.get(bare(stripped))
    if name is None or not _spelled_like(stripped, name):
        return None
    rest = line[colon.end() :] if colon else ""
    return name, _without_closing_marks(head, rest)


def _spelled_like(said: str, name: str) -> bool:
    """Tell a header from a sentence: nothing stands between its letters but spaces."""
    return len(said) <= len(name) + 2 and all(
        char.isalnum() or char in " _" for char in said
    )


def _without_closing_marks(head: str, rest: str) -> str:
    """Drop the second pair of asterisks in `**Action:** ...`."""
    opened = head.strip("#> \t")[:1] in tuple(_EMPHASIS)
    closed = head.rstrip()[-1:] in tuple(_EMPHASIS)
    return rest.lstrip(" \t").lstrip(_EMPHASIS) if opened and not closed else rest
