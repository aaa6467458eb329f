"""The pictures are split as the task card says, and accuracy is what it is called."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.prepare import Prepared
from mlagentbench.tasks.suite.cifar10.grade import grade
from mlagentbench.tasks.suite.cifar10.metric import CLASSES, accuracy, read_scores
from mlagentbench.tasks.suite_images import CLASSES as CLASSES_OF_THE_SOURCE

TASK = "cifar10"
SIZES = {"train": 10_000, "validation": 2_000, "test": 4_000}
HEADER = ",".join(["Id", *CLASSES])


def images(prepared: Prepared, part: str) -> np.ndarray:
    return np.load(prepared.public / "data" / f"{part}_images.npy", allow_pickle=False)


def ids(path: Path) -> list[int]:
    with path.open(newline="", encoding="utf-8") as file:
        return [int(row["Id"]) for row in csv.DictReader(file)]


def one_hot(labels: list[int]) -> np.ndarray:
    return np.eye(len(CLASSES))[labels]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.lists(st.floats(-5, 5), min_size=10, max_size=10, unique=True),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_without_ties_accuracy_is_that_of_scikit_learn(rows):
    labels = [label for label, _ in rows]
    scores = np.array([score for _, score in rows])
    expected = accuracy_score(labels, scores.argmax(axis=1))
    assert accuracy(scores, one_hot(labels)) == pytest.approx(expected)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.lists(st.integers(0, 2), min_size=10, max_size=10),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_a_picture_is_right_when_its_class_beats_each_of_the_other_nine(rows):
    right = 0
    for label, scores in rows:
        others = [score for place, score in enumerate(scores) if place != label]
        right += all(scores[label] > other for other in others)
    labels, scores = zip(*rows, strict=True)
    assert accuracy(scores, one_hot(list(labels))) == pytest.approx(right / len(rows))


def test_the_metric_names_the_classes_as_the_source_orders_them():
    assert tuple(CLASSES) == CLASSES_OF_THE_SOURCE


def test_every_part_has_as_many_pictures_and_ids_as_the_card_says(prepared):
    first = 1
    for part, size in SIZES.items():
        assert images(prepared, part).shape == (size, 32, 32, 3)
        assert images(prepared, part).dtype == np.uint8
        found = ids(prepared.public / "data" / f"{part}.csv")
        assert found == list(range(first, first + size))
        first += size
    assert ids(prepared.private / "answers.csv") == found


def test_no_picture_occurs_twice(prepared):
    digests = [
        hashlib.sha256(picture.tobytes()).digest()
        for part in SIZES
        for picture in images(prepared, part)
    ]
    assert len(set(digests)) == sum(SIZES.values())


def test_the_visible_test_table_holds_ids_alone(prepared):
    first, *_ = (prepared.public / "data" / "test.csv").read_text().splitlines()
    assert first == "Id"


@pytest.mark.parametrize(
    "path",
    ["public/data/train.csv", "public/data/validation.csv", "private/answers.csv"],
)
def test_every_picture_has_one_class_and_every_class_about_a_tenth(prepared, path):
    shown = np.array(list(read_scores(prepared.folder / path).values()))
    assert set(np.unique(shown)) == {0.0, 1.0}
    assert (shown.sum(axis=1) == 1).all()
    assert shown.mean(axis=0) == pytest.approx(0.1, abs=0.02)


def test_classes_do_not_depend_on_the_id(prepared):
    shown = np.array(list(read_scores(prepared.private / "answers.csv").values()))
    labels = shown.argmax(axis=1)
    correlation = np.corrcoef(np.arange(len(labels)), labels)[0, 1]
    assert abs(correlation) < 0.06


def test_the_visible_classes_are_a_perfect_validation_file(prepared):
    visible = prepared.public / "data" / "validation.csv"
    assert grade(visible, visible) == 1.0


def test_scores_are_judged_by_id_and_a_missing_class_is_refused(tmp_path):
    truth, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truth.write_text(f"{HEADER}\n1,1,0,0,0,0,0,0,0,0,0\n2,0,1,0,0,0,0,0,0,0,0\n")
    answers.write_text(f"{HEADER}\n2,0,9,0,0,0,0,0,0,0,0\n1,-1,-2e3,-3,0,0,0,0,0,0,0\n")
    assert grade(answers, truth) == 0.5
    answers.write_text(f"{HEADER}\n1,1,0,0,0,0,0,0,0,0\n2,0,1,0,0,0,0,0,0,0,0\n")
    with pytest.raises(SubmissionError, match="11 cells were asked for"):
        grade(answers, truth)
