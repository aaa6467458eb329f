"""Shortening, cleaning, quoting, diffing and parsing of any text.

Agents and their programs may write markup, terminal escapes and marks that change the
reading direction. Templates escape markup. This module makes invisible characters
visible, cuts long texts and makes data safe to embed.
"""

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from markupsafe import Markup

from mlagentbench.core.errors import ActionError
from mlagentbench.core.record import Record

OBSERVATION_CHARACTERS = 20_000


def shortened(text: str, limit: int = OBSERVATION_CHARACTERS) -> str:
    """Keep the head and the tail of a text that is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    dropped = len(text) - 2 * half
    return f"{text[:half]}\n[... {dropped} characters left out ...]\n{text[-half:]}"


def truncate(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, of which the last three are dots."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def mask_lines(text: str, known: Collection[str]) -> str:
    """Replace the known lines of a code by `#`, so that only the others are read."""
    return "\n".join("#" if line in known else line for line in text.split("\n"))


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a question with up to three close matches, or `otherwise` without one."""
    # Options are compared without their dashes, which all of them have in common.
    plain = {one.lstrip("-").lower(): one for one in known}
    bare = name.lstrip("-").lower()
    near = difflib.get_close_matches(bare, plain, n=3, cutoff=0.6)
    names = " or ".join(plain[match] for match in near)
    return f"did you mean {names}?" if near else otherwise


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise `ValueError` for any invalid text."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("its values are nested too deeply") from error


MAX_CHARACTERS = 200_000
"""Longer replies are cut: no action needs one."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
# Half characters and control bytes make some providers refuse a whole request.
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_LONGEST_NAME = 60


def clean_text(text: str) -> str:
    """Return text that can be recorded and sent on.

    Half characters become a replacement mark, control characters are removed except
    newlines and tabs, and lines end in a newline only.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    plain = _CONTROLS.sub("", whole)
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def clean_name(text: str) -> str:
    """Return a name that a model made up, short enough to show it again."""
    one_line = " ".join(clean_text(text[: 4 * _LONGEST_NAME]).split())
    fits = len(one_line) <= _LONGEST_NAME
    return one_line if fits else f"{one_line[:_LONGEST_NAME]}..."


def sendable(text: str) -> str:
    """Replace characters that cannot be sent or stored, one for one."""
    return _UNSENDABLE.sub("\ufffd", text)


Json = TypeVar("Json")


def encodable(value: Json) -> Json:
    """Replace half characters, which nothing encodes, everywhere in JSON data."""
    return cast(Json, _encodable(value))


def _encodable(value: object) -> object:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case Mapping():
            return {_encodable(key): _encodable(one) for key, one in value.items()}
        case list():
            return [_encodable(one) for one in value]
        case _:
            return value


_INVISIBLE = (0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF)
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))

_SHOWN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **{code: f"[U+{code:04X}]" for code in (*range(0x80, 0xA0), *_INVISIBLE, *_BIDI)},
    **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"),
}


def harmless(text: str) -> str:
    """Show control characters, direction marks and broken code points as symbols."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def first_lines(text: str, *, lines: int, characters: int) -> str:
    """Keep the first lines of a text and append how much was left out."""
    kept = "\n".join(text[:characters].split("\n")[:lines]).rstrip()
    hidden = len(text[len(kept) :].strip())
    return f"{kept} ... ({hidden:,} more characters)" if hidden else kept


def embedded(data: Record) -> Markup:
    """Return a record as JSON that cannot end the script element around it."""
    written = data.model_dump_json()
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)


_CONTEXT = 3
_MOST_LINES = 1_500
"""Beyond that, comparing hostile lines takes minutes."""

_HUNK = re.compile(r"(?<=[-+])[0-9]+")


def difference(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return a unified diff; empty if all lines are equal."""
    before, after = _lines(old), _lines(new)
    head = _in_common(before, after)
    tail = _in_common(before[head:][::-1], after[head:][::-1])
    skipped, dropped = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old_part = before[skipped : len(before) - dropped]
    new_part = after[skipped : len(after) - dropped]
    if max(len(old_part), len(new_part)) > _MOST_LINES:
        last, count = len(before) - tail, len(after) - head - tail
        return (
            f"Lines {head + 1} to {last} are now {count} other lines, too many to show;"
            " look at them with Inspect Script Lines."
        )
    found = difflib.unified_diff(
        old_part, new_part, old_name, new_name, n=_CONTEXT, lineterm=""
    )
    # A hunk's lines are counted from the beginning of the file.
    return "\n".join(
        _HUNK.sub(lambda number: str(int(number[0]) + skipped), line)
        if line.startswith("@@")
        else line
        for line in found
    )


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in lines_of(text)]


def _in_common(one: list[str], other: list[str]) -> int:
    """Return the number of equal first lines."""
    pairs = enumerate(zip(one, other, strict=False))
    shorter = min(len(one), len(other))
    return next((number for number, (a, b) in pairs if a != b), shorter)


_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class LineRange:
    """The first and the last line of a range, counted from 1."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def lines_of(text: str) -> list[str]:
    """Split a text at line feeds only; each line keeps its own."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def parse_range(start: str, end: str, usage: str) -> LineRange:
    """Parse an agent's two line numbers, or raise an error with the usage."""
    if not all(_NUMBER.fullmatch(given.strip()) for given in (start, end)):
        raise ActionError(f"line numbers must be whole numbers. Usage: {usage}")
    lines = LineRange(int(start), int(end))
    if lines.first < 1:
        raise ActionError(f"lines are counted from 1. Usage: {usage}")
    if lines.last < lines.first:
        raise ActionError(
            f"the last line, {lines.last}, comes before the first, {lines.first}."
            f" Usage: {usage}"
        )
    return lines


BLOCK_CHARACTERS = 10_000
"""Every block has fewer."""


@dataclass(frozen=True)
class Block:
    """One part of a text and its position, counted from 1."""

    text: str
    first_line: int
    last_line: int
    first_character: int

    @property
    def last_character(self) -> int:
        """The position of its last character."""
        return self.first_character + len(self.text) - 1


def split(text: str, limit: int = BLOCK_CHARACTERS) -> list[Block]:
    """Cut a text between lines, or inside a line that alone is too long."""
    blocks: list[Block] = []
    held: list[str] = []
    size, first_line, last_line, done = 0, 1, 1, 0
    pieces = (
        (number, line[start : start + limit - 1])
        for number, line in enumerate(lines_of(text), start=1)
        for start in range(0, len(line), limit - 1)
    )
    for number, piece in pieces:
        if held and size + len(piece) >= limit:
            blocks.append(Block("".join(held), first_line, last_line, done + 1))
            done, size, held = done + size, 0, []
        if not held:
            first_line = number
        held.append(piece)
        size, last_line = size + len(piece), number
    if held:
        blocks.append(Block("".join(held), first_line, last_line, done + 1))
    return blocks
