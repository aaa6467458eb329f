import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from tests.support.code_task import csv_rows

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite.imdb.grade import grade
from mlagentbench.tasks.suite.imdb.metric import accuracy

TASK = "imdb"
TRAIN, VALIDATION, TEST = 5000, 2000, 5000
labels = st.sampled_from([0, 1])
certain = st.floats(0, 1).filter(lambda probability: probability != 0.5)


@pytest.fixture(scope="module")
def splits(prepared) -> dict[str, list[dict[str, str]]]:
    data = prepared.public / "data"
    return {
        "train": csv_rows(data / "train.csv"),
        "validation": csv_rows(data / "validation_reviews.csv"),
        "test": csv_rows(data / "test_reviews.csv"),
    }


@given(st.lists(st.tuples(certain, labels), min_size=1))
def test_accuracy_is_that_of_scikit_learn(rows):
    guesses, truth = zip(*rows, strict=True)

    assert accuracy(guesses, truth) == pytest.approx(
        accuracy_score(truth, [guess > 0.5 for guess in guesses])
    )


@given(st.lists(labels, min_size=1))
def test_one_half_is_wrong_whatever_the_truth_is(truth):
    assert accuracy([0.5] * len(truth), truth) == 0


@pytest.mark.parametrize("probability", ["1.01", "-0.01", "7", "-1e99"])
def test_what_is_no_probability_is_refused(tmp_path, probability):
    truth, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truth.write_text("Id,positive\n1,1\n2,0\n")
    answers.write_text(f"Id,positive\n2,0.1\n1,{probability}\n")

    with pytest.raises(SubmissionError, match=r"Id 1: .* is no probability"):
        grade(answers, truth)


def test_rows_are_judged_by_id_and_not_by_their_order(tmp_path):
    truth, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truth.write_text("Id,positive\n1,1\n2,0\n3,0\n4,1\n")
    answers.write_text("Id,positive\n4,0.4\n2,0\n1,1\n3,0.2\n")

    assert grade(answers, truth) == 0.75


def test_the_splits_are_as_large_as_told_and_numbered_through(splits):
    sizes = [len(rows) for rows in splits.values()]
    numbers = [int(row["Id"]) for rows in splits.values() for row in rows]

    assert sizes == [TRAIN, VALIDATION, TEST]
    assert numbers == list(range(1, TRAIN + VALIDATION + TEST + 1))


def test_no_text_occurs_twice_whatever_its_case_and_punctuation(splits):
    texts = [row["review"] for rows in splits.values() for row in rows]
    words = {" ".join(re.findall(r"\w+", text.lower())) for text in texts}

    assert len(words) == TRAIN + VALIDATION + TEST


def test_a_review_is_one_line_without_markup_for_line_breaks(splits):
    texts = [row["review"] for rows in splits.values() for row in rows]

    assert all(text == " ".join(text.split()) for text in texts)
    assert not any("<br" in text for text in texts)


def test_only_train_and_validation_labels_are_visible(prepared, splits):
    visible = csv_rows(prepared.public / "data" / "validation.csv")
    hidden = csv_rows(prepared.private / "answers.csv")

    assert set(splits["test"][0]) == set(splits["validation"][0]) == {"Id", "review"}
    assert [row["Id"] for row in visible] == [row["Id"] for row in splits["validation"]]
    assert [row["Id"] for row in hidden] == [row["Id"] for row in splits["test"]]


def test_half_of_each_split_is_positive_and_the_order_does_not_tell_which(
    prepared, splits
):
    for rows in (
        splits["train"],
        csv_rows(prepared.public / "data" / "validation.csv"),
        csv_rows(prepared.private / "answers.csv"),
    ):
        for third in (rows[0::3], rows[: len(rows) // 3], rows[-len(rows) // 3 :]):
            positive = sum(int(row["positive"]) for row in third)
            assert positive / len(third) == pytest.approx(0.5, abs=0.06)
