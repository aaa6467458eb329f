import math
import statistics
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.code_task import csv_rows

from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.sources import fetch
from mlagentbench.tasks.suite.feedback import prepare as preparation
from mlagentbench.tasks.suite.feedback.degrade import degrade
from mlagentbench.tasks.suite.feedback.metric import mcrmse
from mlagentbench.tasks.suite.feedback.prose import passages, read_speeches
from mlagentbench.tasks.suite.feedback.writers import TRAITS, another_score, draw_writer
from mlagentbench.tasks.task_code import load_grade

TASK = "feedback"
ROWS = st.lists(
    st.lists(st.floats(1, 5), min_size=12, max_size=12), min_size=1, max_size=8
)
WRITTEN = 4 * (
    "However, the committee therefore considered those valuable reports.",
    "It was a remarkable year, because our people worked together.",
    "We shall continue, with patience, until the great work is done.",
)
TEXT = [sentence.split() for sentence in WRITTEN]
FLAWLESS = dict.fromkeys(TRAITS, 5.0)


@pytest.fixture(scope="module")
def sides():
    archives = fetch(load_task(TASK), default_cache())
    return preparation.choose(passages(read_speeches(archives)))


@given(ROWS)
def test_the_metric_is_the_mean_over_traits_of_root_mean_squared_errors(table):
    errors = []
    for trait in range(6):
        squares = [(row[trait] - row[6 + trait]) ** 2 for row in table]
        errors.append(math.sqrt(sum(squares) / len(squares)))
    predicted, actual = [row[:6] for row in table], [row[6:] for row in table]
    assert mcrmse(predicted, actual) == pytest.approx(sum(errors) / 6)


def test_a_speech_lies_on_one_side_of_the_split_only(sides):
    speeches = [{passage.document for passage in side} for side in sides.values()]
    assert sum(map(len, speeches)) == len(set.union(*speeches))


def test_no_sentence_is_in_two_speeches(sides):
    homes = {}
    for passage in chain(*sides.values()):
        for sentence in passage.text:
            home = homes.setdefault(tuple(sentence), passage.document)
            assert home == passage.document


def test_every_text_is_there_once_and_numbers_say_nothing_of_the_side(prepared):
    data = prepared.public / "data"
    names = ("train.csv", "validation_texts.csv", "test.csv")
    files = [csv_rows(data / name) for name in names]
    numbers = [[int(row["text_id"]) for row in file] for file in files]
    texts = {row["full_text"] for file in files for row in file}
    assert [len(file) for file in files] == [1500, 500, 1000]
    assert sorted(chain(*numbers)) == list(range(1, 3001))
    assert len(texts) == 3000
    for side in numbers:
        assert abs(statistics.fmean(side) - 1500) < 100


def test_answers_are_in_the_format_of_the_validation_scores(prepared):
    known = csv_rows(prepared.public / "data" / "validation.csv")
    hidden = csv_rows(prepared.private / "answers.csv")
    assert list(known[0]) == list(hidden[0]) == ["text_id", *TRAITS]
    halves = {str(score / 2) for score in range(2, 11)}
    assert {row[trait] for row in known + hidden for trait in TRAITS} == halves


def test_traits_go_together_but_not_all_the_way(prepared):
    train = csv_rows(prepared.public / "data" / "train.csv")
    columns = [[float(row[trait]) for row in train] for trait in TRAITS]
    for place, first in enumerate(columns):
        for second in columns[place + 1 :]:
            assert 0.15 < statistics.correlation(first, second) < 0.6


def test_raters_err_and_their_errors_are_not_those_of_the_text():
    writers = [draw_writer(f"a writer {number}") for number in range(300)]
    misses = [
        writer.scores[trait] - writer.qualities[trait]
        for writer in writers
        for trait in TRAITS
    ]
    assert abs(statistics.fmean(misses)) < 0.05
    assert 0.2 < statistics.pstdev(misses) < 0.4


def test_a_flawless_writer_changes_nothing():
    assert degrade(TEXT, FLAWLESS, {}, "any") == " ".join(WRITTEN)


@pytest.mark.parametrize("trait", TRAITS)
def test_each_trait_has_faults_of_its_own_and_they_are_drawn_alike(trait):
    poor = FLAWLESS | {trait: 1.0}
    fair = FLAWLESS | {trait: 4.0}
    flawless = " ".join(WRITTEN).split()

    def changed(qualities):
        written = [degrade(TEXT, qualities, {}, f"salt {n}").split() for n in range(20)]
        again = [degrade(TEXT, qualities, {}, f"salt {n}").split() for n in range(20)]
        assert written == again
        return sum(
            sum(a != b for a, b in zip(text, flawless, strict=False))
            + abs(len(text) - len(flawless))
            for text in written
        )

    assert changed(poor) > changed(fair) > 0


def test_another_score_is_never_the_same():
    scores = [score / 2 for score in range(2, 11)]
    assert all(another_score(score) != score for score in scores)
    assert {another_score(score) for score in scores} == set(scores)


def test_a_submission_without_a_trait_is_refused(tmp_path):
    truth, answers = tmp_path / "truth.csv", tmp_path / "answers.csv"
    truth.write_text(f"text_id,{','.join(TRAITS)}\n1,3.0,3.0,3.0,3.0,3.0,3.0\n")
    answers.write_text(f"text_id,{','.join(TRAITS[:5])}\n1,3.0,3.0,3.0,3.0,3.0\n")
    with pytest.raises(SubmissionError, match="must begin with the line"):
        load_grade(load_task(TASK))(answers, truth)
