"""Words as they stand in a text, with their capitals and punctuation.

A token is what lies between two spaces; its word is what is left without punctuation.
"""

import re
from functools import lru_cache

_PARTS = re.compile(r"(\W*)(.*?)(\W*)", re.DOTALL)

Sentence = list[str]
Text = list[Sentence]


@lru_cache(maxsize=2**17)
def word(token: str) -> str:
    """Return the word of a token, in small letters."""
    return _parts(token)[1].lower()


def is_plain(token: str) -> bool:
    """Tell whether a token is a word in small letters and nothing else."""
    return token.isalpha() and token.islower()


def with_word(token: str, replacement: str) -> str:
    """Put another word in the place of a token's own; capital and commas stay."""
    before, own, after = _parts(token)
    if own[:1].isupper():
        replacement = capitalised(replacement)
    return f"{before}{replacement}{after}"


def without_end(token: str) -> str:
    """Take away the punctuation after a token's word."""
    before, own, _ = _parts(token)
    return f"{before}{own}"


def capitalised(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def uncapitalised(token: str) -> str:
    """Begin with a small letter, unless the word is I."""
    return token if word(token) == "i" else token[:1].lower() + token[1:]


def _parts(token: str) -> tuple[str, str, str]:
    before, own, after = _PARTS.fullmatch(token).groups()  # type: ignore[union-attr]
    return before, own, after
