"""Strict, then lenient JSON; never a guess.

One pass from left to right. Whatever is ambiguous is not guessed at: a quote inside
a string that is not escaped, for one, makes the whole unreadable.

Made for quotes that were not escaped: `{"content": "print("hi")"}`.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

_MAX_DIGITS = 300


class ReadingError(ValueError):
    """What a model wrote cannot be taken over; the text says why."""


class UnreadableError(ReadingError):
    """The text is not JSON, but a more tolerant reader may understand it."""


class RefusedError(ReadingError):
    """The text is JSON, but what it says is not acceptable to any reader."""


def read_strictly(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where it ends."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise RefusedError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(error.msg) from error


def whole_number(digits: str) -> int:
    """Convert digits, unless there are so many that converting them would hurt."""
    if len(digits) > _MAX_DIGITS:
        raise RefusedError("a number in it has too many digits")
    return int(digits)


def real_number(digits: str) -> float:
    """Convert digits to a number that is finite."""
    if not math.isfinite(number := float(digits)):
        raise RefusedError("a number in it is too large")
    return number


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose every key was said once."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise RefusedError("a key stands in it twice")
    return read


def _no_constant(name: str) -> None:
    raise RefusedError(f"{name} is not a value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=without_repeats,
    parse_int=whole_number,
    parse_float=real_number,
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
    """Return the value that begins at `start`, and where it ends."""
    reader = _Reader(text, start)
    return reader.value(), reader.at


def unescaped(text: str) -> str:
    """Replace the escapes of a string; what is no escape stays as it is."""
    return _ESCAPE.sub(_meaning, text) if "\\" in text else text


def _meaning(escape: re.Match[str]) -> str:
    said = escape[1]
    if len(said) > 1:
        return chr(int(said[1:], 16))
    return said if said in "\"'\\/" else _MEANING.get(said, escape[0])


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.at = start
        self._depth = 0

    def value(self) -> object:
        match self._ahead():
            case "{":
                return without_repeats(self._all_until("}", self._pair))
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
        # Where lines are broken for real, a backslash belongs to the code.
        return content if triple and "\n" in content else unescaped(content)

    def _bare(self) -> object:
        if (found := _BARE.match(self._text, self.at)) is None:
            raise UnreadableError("a value is missing")
        self.at = found.end()
        word = found[0]
        if word in _WORDS:
            return _WORDS[word]
        if (number := _NUMBER.fullmatch(word)) is None:
            raise UnreadableError("a value is not in quotes")
        return real_number(word) if number[1] or number[2] else whole_number(word)

    def _ahead(self) -> str:
        """Skip white space and look at what follows; nothing does at the end."""
        if (space := _SPACE.match(self._text, self.at)) is not None:
            self.at = space.end()
        return self._text[self.at : self.at + 1]


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
