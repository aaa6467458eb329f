"""Many runs in few numbers."""

import pytest

from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import BestStep, Starter
from mlagentbench.evaluation.tallies import (
    by_task,
    given_away,
    improvement_all,
    improvement_valid,
    improvements_all,
    improvements_valid,
    valid_rate,
    validities,
)


@pytest.fixture
def valid(make_card):
    def make(improvement, **changes):
        score = 100.0 * (1 - improvement)
        return make_card(score=score, improvement=improvement, **changes)

    return make


def test_what_left_nothing_valid_counts_as_no_improvement_or_not_at_all(
    make_card, valid
):
    cards = [valid(0.5), valid(0.1), make_card(), make_card()]
    assert improvement_valid(cards) == pytest.approx(0.3)
    assert improvement_all(cards) == pytest.approx(0.15)
    assert valid_rate(cards) == 0.5


@pytest.mark.parametrize("ending", [one for one in Ending if not one.counts])
def test_a_run_that_does_not_count_is_in_no_average(make_card, valid, ending):
    cards = [valid(0.5), make_card(ending=ending)]
    assert improvements_all(cards) == [0.5]
    assert validities(cards) == [True]


def test_of_no_runs_nothing_is_said():
    assert improvement_all([]) is None
    assert improvement_valid([]) is None
    assert valid_rate([]) is None


@pytest.mark.parametrize("starter", [None, Starter(mean=0.0, sd=1.0, n=8)])
def test_a_task_without_a_yardstick_is_not_averaged(make_card, starter):
    cards = [make_card(starter=starter), make_card(starter=starter, score=5.0)]
    assert improvements_all(cards) == []
    assert improvements_valid(cards) == []
    assert valid_rate(cards) == 0.5


def test_no_improvement_is_zero_and_never_minus_zero(make_card):
    (value,) = improvements_all([make_card(direction="lower")])
    assert str(value) == "0.0"


def test_values_are_grouped_by_task_and_empty_tasks_left_out(make_card, valid):
    cards = [valid(0.5, task="a"), make_card(task="b"), valid(0.1, task="a")]
    assert by_task(cards, improvements_valid) == {"a": [0.5, 0.1]}
    assert by_task(cards, validities) == {"a": [True, True], "b": [False]}


def test_what_was_given_away_is_the_best_steps_lead_on_what_was_submitted(
    make_card, valid
):
    best = BestStep(step=3, score=40.0)
    assert given_away(valid(0.5, best_step=best)) == pytest.approx(0.1)
    assert given_away(valid(0.7, best_step=best)) == 0.0
    assert given_away(make_card(best_step=best)) == pytest.approx(0.6)


def test_without_scored_steps_or_a_yardstick_nobody_knows_what_was_given_away(
    make_card, valid
):
    best = BestStep(step=3, score=40.0)
    zero = Starter(mean=0.0, sd=1.0, n=8)
    assert given_away(valid(0.5)) is None
    assert given_away(make_card(best_step=best, starter=None)) is None
    assert given_away(make_card(best_step=best, starter=zero)) is None
    assert given_away(make_card(best_step=best, score=50.0)) is None
