"""JSON as models write it: raw line breaks, trailing commas, Python's quotes.

One pass from left to right. Whatever is ambiguous is not guessed at: a quote inside
a string that is not escaped, for one, makes the whole unreadable.
"""

import re
from collections.abc import Callable
from typing import Any

from mlagentbench.agents.languages.strict import (
    RefusedError,
    UnreadableError,
    real_number,
    whole_number,
    without_repeats,
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
