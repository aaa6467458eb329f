"""Reader of the JSON that models write: strict first, then lenient.

The lenient reader makes one pass from left to right and never guesses: an unescaped
quote inside a string, for example, makes the object unreadable. For an action's
input, whose keys are known, `extract` can still read such strings:
`{"content": "print("hi")"}`.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mlagentbench.core import clean_text

_MAX_DIGITS = 300


class ReadingError(ValueError):
    """The text of a model cannot be used, for the reason in the message."""


class UnreadableError(ReadingError):
    """The text is not JSON; a more lenient reader may still accept it."""


class RefusedError(ReadingError):
    """The text is JSON with a value that no reader accepts."""


def as_text(value: object) -> str:
    """Return a value as the text of an action's input: JSON if it is not a string."""
    if value is None:
        raise RefusedError("a value in it is missing")
    if isinstance(value, str):
        return clean_text(value)
    try:
        return clean_text(
            json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
        )
    except (RecursionError, TypeError, ValueError) as error:
        raise RefusedError("a value in it is no text") from error


def _read_strictly(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise RefusedError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(error.msg) from error


def _read_int(digits: str) -> int:
    """Convert digits, unless there are so many that the conversion is slow."""
    if len(digits) > _MAX_DIGITS:
        raise RefusedError("a number in it has too many digits")
    return int(digits)


def _read_float(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise RefusedError("a number in it is too large")
    return number


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if one of its keys occurs twice."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise RefusedError("a key stands in it twice")
    return read


def _no_constant(name: str) -> None:
    raise RefusedError(f"{name} is not a value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys,
    parse_int=_read_int,
    parse_float=_read_float,
    parse_constant=_no_constant,
)

_MAX_DEPTH = 50
_SPACE = re.compile(r"\s*+")
_BARE = re.compile(r"[^\s,:\[\]{}\"']++")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(\.\d++)?+([eE][+-]?\d++)?+", re.ASCII)
_TRIPLE = {quote: re.compile(rf"(?s:.*?){quote}") for quote in ('"""', "'''")}
_SINGLE = {
    quote: re.compile(rf"[^{quote}\\]*+(?:\\(?s:.)[^{quote}\\]*+)*+{quote}")
    for quote in ('"', "'")
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|(?s:.))")
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {
    **{"true": True, "false": False, "null": None},
    **{"True": True, "False": False, "None": None},
}


def read_leniently(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the value that starts at `start`, and its end."""
    reader = _Reader(text, start)
    return reader.value(), reader.at


def _unescaped(text: str) -> str:
    """Replace the escapes of a string; unknown ones stay."""
    return _ESCAPE.sub(_meaning, text) if "\\" in text else text


def _meaning(escape: re.Match[str]) -> str:
    escaped = escape[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return escaped if escaped in "\"'\\/" else _MEANING.get(escaped, escape[0])


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.at = start
        self._depth = 0

    def value(self) -> object:
        match self._ahead():
            case "{":
                return unique_keys(self._all_until("}", self._pair))
            case "[":
                return self._all_until("]", self.value)
            case '"' | "'":
                return self._string()
            case _:
                return self._bare()

    def _all_until(self, end: str, one: Callable[[], Any]) -> list[Any]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise RefusedError("it is nested too deeply")
        self.at += 1
        read = []
        while self._ahead() != end:
            read.append(one())
            if self._ahead() == ",":
                self.at += 1
            elif self._ahead() != end:
                raise UnreadableError("a comma or an end is missing")
        self.at += 1
        self._depth -= 1
        return read

    def _pair(self) -> tuple[str, object]:
        if self._ahead() not in ('"', "'"):
            raise UnreadableError("a key is not in quotes")
        key = self._string()
        if self._ahead() != ":":
            raise UnreadableError("a key has no value")
        self.at += 1
        return key, self.value()

    def _string(self) -> str:
        quote = self._text[self.at]
        triple = self._text.startswith(quote * 3, self.at)
        mark = quote * 3 if triple else quote
        self.at += len(mark)
        end = (_TRIPLE if triple else _SINGLE)[mark].match(self._text, self.at)
        if end is None:
            raise UnreadableError("a string has no end")
        content = self._text[self.at : end.end() - len(mark)]
        self.at = end.end()
        # With real line breaks the string is code, to which its backslashes belong.
        return content if triple and "\n" in content else _unescaped(content)

    def _bare(self) -> object:
        if (found := _BARE.match(self._text, self.at)) is None:
            raise UnreadableError("a value is missing")
        self.at = found.end()
        word = found[0]
        if word in _WORDS:
            return _WORDS[word]
        if (number := _NUMBER.fullmatch(word)) is None:
            raise UnreadableError("a value is not in quotes")
        return _read_float(word) if number[1] or number[2] else _read_int(word)

    def _ahead(self) -> str:
        """Skip white space and return the next character; empty at the end."""
        if (space := _SPACE.match(self._text, self.at)) is not None:
            self.at = space.end()
        return self._text[self.at : self.at + 1]


_TRIES = 8
_TOKEN = re.compile(r"\\(?s:.)|[\"{}]")


class Found(NamedTuple):
    """An object and its place in a text."""

    value: dict[str, Any]
    start: int
    end: int


def object_at(text: str, start: int) -> Found:
    """Return the object whose brace is at `start`."""
    try:
        value, end = _read_strictly(text, start)
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
            # An object inside a broken one is not the one that the model meant.
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


_ANOTHER_KEY = re.compile(r"\",\s*+\"\w++\"\s*+:")


def extract(text: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the text of each key, if every key occurs once and no other does."""
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
    """Return the start of a key and the start of its value."""
    found = list(re.finditer(rf'"{re.escape(key)}"\s*+:\s*+(")?+', text))
    if len(found) != 1 or found[0][1] is None:
        raise UnreadableError(f"{key} does not stand in it once, with a text")
    return found[0].start(), found[0].end()


def _before_comma(text: str, key_start: int) -> int:
    end = len(text[:key_start].rstrip())
    if text[end - 1 : end] != ",":
        raise UnreadableError("a comma is missing")
    return _before_quote(text, end - 1)


def _before_quote(text: str, at: int) -> int:
    end = len(text[:at].rstrip())
    if at < 0 or text[end - 1 : end] != '"':
        raise UnreadableError("a text has no end")
    return end - 1


def _value(text: str, begin: int, end: int) -> str:
    if end < begin or _ANOTHER_KEY.search(text, begin, end):
        raise UnreadableError("it cannot be told where a text ends")
    return _unescaped(text[begin:end])
