"""What a model says is made harmless once, where it comes in."""

import re

MAX_CHARACTERS = 200_000
"""A longer reply is not read: no action needs one."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_MARGIN = 60


def clean_text(text: str) -> str:
    """Return text that can be recorded and sent on.

    Halves of characters become a replacement mark, control characters go, and lines
    end in a newline only; newlines and tabs stay.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    plain = _CONTROLS.sub("", whole)
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def clean_name(text: str) -> str:
    """Return a name a model made up, short enough to be repeated to it."""
    one_line = " ".join(clean_text(text[: 4 * _MARGIN]).split())
    return one_line if len(one_line) <= _MARGIN else f"{one_line[:_MARGIN]}..."
