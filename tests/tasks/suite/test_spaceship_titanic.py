from collections import defaultdict
from statistics import correlation

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score
from tests.support.code_task import csv_rows

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite.spaceship_titanic.grade import grade
from mlagentbench.tasks.suite.spaceship_titanic.metric import accuracy

TASK = "spaceship-titanic"
PARTS = ("train", "validation_passengers", "test")


@pytest.fixture(scope="module")
def parts(prepared):
    return {name: csv_rows(prepared.public / "data" / f"{name}.csv") for name in PARTS}


@pytest.fixture(scope="module")
def everyone(parts):
    return [row for rows in parts.values() for row in rows]


def group_of(row):
    return row["PassengerId"].partition("_")[0]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_the_metric_is_scikit_learns_accuracy(pairs):
    predicted, actual = zip(*pairs, strict=True)
    known = accuracy_score(actual, predicted)
    assert accuracy(predicted, actual) == pytest.approx(known)


def test_every_passenger_lies_in_exactly_one_part(parts, everyone):
    assert [len(rows) for rows in parts.values()] == [3501, 1200, 2253]
    assert len({row["PassengerId"] for row in everyone}) == 6954


def test_travel_groups_are_kept_whole(parts):
    groups = [{group_of(row) for row in rows} for rows in parts.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 5227


def test_no_passenger_is_described_twice(everyone):
    unlike = {"PassengerId", "Transported"}
    described = {
        tuple(value for name, value in row.items() if name not in unlike)
        for row in everyone
    }
    assert len(described) == len(everyone)


def test_new_numbers_count_groups_and_their_members_without_gaps(everyone):
    members = defaultdict(list)
    for row in everyone:
        members[int(group_of(row))].append(int(row["PassengerId"][-2:]))
    assert list(members) == list(range(1, 5228))
    assert all(m == list(range(1, len(m) + 1)) for m in members.values())


@pytest.mark.parametrize("deck", ["E", "F", "G"])
def test_group_numbers_no_longer_rise_with_cabin_numbers(everyone, deck):
    rows = [row for row in everyone if row["Cabin"].startswith(deck)]
    groups = [int(group_of(row)) for row in rows]
    cabins = [int(row["Cabin"].split("/")[1]) for row in rows]
    assert abs(correlation(groups, cabins)) < 0.1


def test_the_fate_of_test_passengers_is_not_told(parts, prepared):
    assert "Transported" not in parts["test"][0]
    hidden = [row["PassengerId"] for row in csv_rows(prepared.private / "answers.csv")]
    assert hidden == [row["PassengerId"] for row in parts["test"]]


def test_validation_answers_belong_to_the_validation_passengers(parts, prepared):
    answers = csv_rows(prepared.public / "data" / "validation.csv")
    asked = [row["PassengerId"] for row in parts["validation_passengers"]]
    assert [row["PassengerId"] for row in answers] == asked


@pytest.mark.parametrize("cell", ["true", "1", "", "True ", "None"])
def test_only_true_and_false_are_answers(prepared, tmp_path, cell):
    truth = prepared.private / "answers.csv"
    header, first, *rest = truth.read_text().splitlines()
    answers = tmp_path / "submission.csv"
    answers.write_text("\n".join([header, f"{first.partition(',')[0]},{cell}", *rest]))
    with pytest.raises(SubmissionError):
        grade(answers, truth)
