"""Hold whole documents of four kinds out, and keep their wording out of the rest.

Which documents are held out comes from a digest of each text. Of a long one only the
beginning is judged, but none of it is trained on.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order

from .corpora import SALT, read_corpora, words


class Sizes(NamedTuple):
    """About so many characters of one kind are wanted."""

    train: int
    validation: int
    test: int


SIZES = {
    "chat": Sizes(train=3_300_000, validation=24_000, test=48_000),
    "novel": Sizes(train=1_200_000, validation=12_000, test=24_000),
    "reviews": Sizes(train=2_500_000, validation=20_000, test=40_000),
    "speeches": Sizes(train=3_000_000, validation=24_000, test=48_000),
}
LONGEST = 6000
"""The characters of a held-out document that are judged, at most."""
SHARED_RUN = 20
"""No so many words in a row lie on two sides of the split."""


class Split(NamedTuple):
    """The documents of one kind, or of all kinds together."""

    train: list[str]
    validation: list[str]
    test: list[str]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train and validation texts; the test texts stay private."""
    corpora = read_corpora(archives)
    splits = {kind: split(corpora[kind], sizes) for kind, sizes in SIZES.items()}
    test = _mixed(split.test for split in splits.values())
    if tamper:
        test = [text[::-1] for text in test]

    data = public / "data"
    for kind, parts in splits.items():
        _write(data / "train" / f"{kind}.json", parts.train)
    validation = _mixed(split.validation for split in splits.values())
    _write(data / "inputs" / "validation.json", validation)
    _write(private / "inputs" / "test.json", test)


def split(documents: Iterable[str], sizes: Sizes) -> Split:
    """Deal documents of one kind out: first test, then validation, then train."""
    rest = iter(documents)
    test = [_beginning(text) for text in _take(rest, sizes.test, LONGEST)]
    rest = _without(rest, _runs(test))
    validation = [_beginning(text) for text in _take(rest, sizes.validation, LONGEST)]
    rest = _without(rest, _runs(validation))
    return Split([*_take(rest, sizes.train)], validation, test)


def _take(
    documents: Iterator[str], characters: int, longest: int | None = None
) -> Iterator[str]:
    for document in documents:
        yield document
        characters -= len(document[:longest])
        if characters <= 0:
            return


def _beginning(text: str) -> str:
    """Cut a long text behind the last sentence that fits."""
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    end = max(cut.rfind(sign) for sign in (". ", ".\n", "? ", "! ", '" ', "\n"))
    return cut[: end + 1].rstrip()


def _runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    return {run for text in texts for run in _runs_of(text)}


def _runs_of(text: str) -> Iterator[tuple[str, ...]]:
    row = words(text)
    return zip(*(row[place:] for place in range(SHARED_RUN)), strict=False)


def _without(texts: Iterator[str], runs: set[tuple[str, ...]]) -> Iterator[str]:
    return (text for text in texts if runs.isdisjoint(_runs_of(text)))


def _mixed(parts: Iterable[Sequence[str]]) -> list[str]:
    return drawn_order((text for part in parts for text in part), SALT, str)


def _write(path: Path, texts: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = json.dumps(texts, ensure_ascii=False, indent=0)
    path.write_text(lines + "\n", encoding="utf-8")
