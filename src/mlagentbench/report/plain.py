"""Text from agents, made harmless to show.

Agents and what they run write whatever they like: markup, terminal escapes, marks
that turn the reading direction. Escaping markup is the template's work; here the
invisible is made visible, the endless is cut short, and data is made safe to embed.
"""

from markupsafe import Markup

from mlagentbench.core.record import Record

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


def shortened(text: str, *, lines: int, characters: int) -> str:
    """Keep the first lines of a text and say how much was left out."""
    kept = "\n".join(text[:characters].split("\n")[:lines]).rstrip()
    hidden = len(text[len(kept) :].strip())
    return f"{kept} ... ({hidden:,} more characters)" if hidden else kept


def embedded(data: Record) -> Markup:
    """Write a record as JSON that cannot leave the script element it stands in."""
    written = data.model_dump_json()
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)
