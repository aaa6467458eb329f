"""Cut speeches into passages, let imagined writers spoil them, and split by speech.

Every passage of a speech lies on the same side of the split. Order and numbers come
from a digest of each passage's place, so that they say nothing about it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path

from mlagentbench.core.record import Record
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table

from .degrade import degrade
from .prose import Passage, passages, read_speeches, word_counts
from .writers import TRAITS, another_score, draw_writer

SALT = "feedback@1"
SIZES = {"train": 1500, "validation": 500, "test": 1000}
SPEECHES = ("train", "train", "train", "validation", "test", "test")
"""The side each speech goes to, in turn."""
KEY, TEXT = "text_id", "full_text"


class Essay(Record):
    """One row: a spoilt passage and its scores."""

    number: int
    side: str
    text: str
    scores: tuple[float, ...]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test texts; the test scores stay private."""
    essays = _essays(archives)
    train, validation, test = ([*_of(side, essays)] for side in SIZES)
    if tamper:
        test = [_rescored(essay) for essay in test]

    data = public / "data"
    texts, scores = (KEY, TEXT), (KEY, *TRAITS)
    write_table(
        data / "train.csv",
        (*texts, *TRAITS),
        [(essay.number, essay.text, *essay.scores) for essay in train],
    )
    write_table(data / "validation_texts.csv", texts, _text_rows(validation))
    write_table(data / "validation.csv", scores, _score_rows(validation))
    write_table(data / "test.csv", texts, _text_rows(test))
    write_table(private / "answers.csv", scores, _score_rows(test))


def choose(by_speech: Mapping[str, Sequence[Passage]]) -> dict[str, list[Passage]]:
    """Give each side of the split whole speeches, and draw its passages from them."""
    pools: dict[str, list[Passage]] = {side: [] for side in SIZES}
    speeches = drawn_order(by_speech, SALT, str)
    for speech, side in zip(speeches, cycle(SPEECHES), strict=False):
        pools[side] += by_speech[speech]
    return {
        side: drawn_order(pools[side], SALT, lambda passage: passage.name)[:size]
        for side, size in SIZES.items()
    }


def _essays(archives: Archives) -> list[Essay]:
    speeches = read_speeches(archives)
    chosen = choose(passages(speeches))
    counts = word_counts(speeches.values())
    ordered = sorted(counts, key=lambda own: (-counts[own], own))
    ranks = {own: rank for rank, own in enumerate(ordered)}
    sides = [(side, passage) for side in SIZES for passage in chosen[side]]
    shuffled = drawn_order(sides, f"{SALT} order", lambda item: item[1].name)
    return [
        _essay(number, side, passage, ranks)
        for number, (side, passage) in enumerate(shuffled, start=1)
    ]


def _essay(number: int, side: str, passage: Passage, ranks: Mapping[str, int]) -> Essay:
    salt = f"{SALT} {passage.name}"
    writer = draw_writer(salt)
    return Essay(
        number=number,
        side=side,
        text=degrade(passage.text, writer.qualities, ranks, salt),
        scores=tuple(writer.scores[trait] for trait in TRAITS),
    )


def _rescored(essay: Essay) -> Essay:
    return essay.model_copy(update={"scores": tuple(map(another_score, essay.scores))})


def _of(side: str, essays: Sequence[Essay]) -> Iterator[Essay]:
    return (essay for essay in essays if essay.side == side)


def _text_rows(essays: Sequence[Essay]) -> list[tuple[object, ...]]:
    return [(essay.number, essay.text) for essay in essays]


def _score_rows(essays: Sequence[Essay]) -> list[tuple[object, ...]]:
    return [(essay.number, *essay.scores) for essay in essays]
