"""Finding a JSON object in what a model wrote around it."""

import re
from typing import Any, NamedTuple

from mlagentbench.agents.languages.lenient import read_leniently
from mlagentbench.agents.languages.strict import UnreadableError, read_strictly

_TRIES = 8
_TOKEN = re.compile(r"\\(?s:.)|[\"{}]")


class Found(NamedTuple):
    """An object and where in a text it stands."""

    value: dict[str, Any]
    start: int
    end: int


def object_at(text: str, start: int) -> Found:
    """Return the object whose brace stands at `start`."""
    try:
        value, end = read_strictly(text, start)
    except UnreadableError:
        value, end = read_leniently(text, start)
    return Found(value, start, end)


def first_object(text: str, start: int = 0) -> Found:
    """Return the first object in a text, past fences, prose and braces in prose."""
    at = text.find("{", start)
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            return object_at(text, at)
        except UnreadableError:
            # An object inside one that is broken is not what was meant.
            at = text.find("{", _balanced_end(text, at))
    raise UnreadableError("there is no JSON object that can be read")


def _balanced_end(text: str, start: int) -> int:
    depth, quoted = 0, False
    for token in _TOKEN.finditer(text, start):
        match token[0]:
            case '"':
                quoted = not quoted
            case "{" if not quoted:
                depth += 1
            case "}" if not quoted:
                depth -= 1
        if not depth:
            return token.end()
    return len(text)
