"""The last resort for an input: cut it apart at the keys that must be in it.

Made for quotes that were not escaped: `{"content": "print("hi")"}`.
"""

import re
from collections.abc import Iterable

from mlagentbench.agents.languages.lenient import unescaped
from mlagentbench.agents.languages.strict import UnreadableError

_ANOTHER_KEY = re.compile(r"\",\s*+\"\w++\"\s*+:")


def extract(text: str, keys: Iterable[str]) -> dict[str, str]:
    """Return each key's text, if every key stands there once and nothing else does."""
    opening, closing = text.find("{"), text.rfind("}")
    marks = sorted((_mark(text, key), key) for key in keys)
    if not marks or text[opening + 1 : marks[0][0][0]].strip():
        raise UnreadableError("it does not begin with a key that is expected")
    starts = [start for (start, _), _ in marks]
    ends = [_before_comma(text, start) for start in starts[1:]]
    ends.append(_before_quote(text, closing))
    return {
        key: _value(text, begin, end)
        for ((_, begin), key), end in zip(marks, ends, strict=True)
    }


def _mark(text: str, key: str) -> tuple[int, int]:
    """Return where a key begins, and where its value does."""
    found = list(re.finditer(rf'"{re.escape(key)}"\s*+:\s*+(")?+', text))
    if len(found) != 1 or found[0][1] is None:
        raise UnreadableError(f"{key} does not stand in it once, with a text")
    return found[0].start(), found[0].end()


def _before_comma(text: str, key_start: int) -> int:
    end = _skip_back(text, key_start)
    if text[end - 1 : end] != ",":
        raise UnreadableError("a comma is missing")
    return _before_quote(text, end - 1)


def _before_quote(text: str, at: int) -> int:
    end = _skip_back(text, at)
    if at < 0 or text[end - 1 : end] != '"':
        raise UnreadableError("a text has no end")
    return end - 1


def _skip_back(text: str, at: int) -> int:
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def _value(text: str, begin: int, end: int) -> str:
    if end < begin or _ANOTHER_KEY.search(text, begin, end):
        raise UnreadableError("it cannot be told where a text ends")
    return unescaped(text[begin:end])
