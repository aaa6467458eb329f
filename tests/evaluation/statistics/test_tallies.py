"""Many runs in few numbers."""

import pytest

from mlagentbench.core.scorecard import BestStep, Starter
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.statistics.tallies import (
    counted,
    given_away,
    improvement_or_zero,
    tally,
)

NOT_FINITE = {"improvement": float("nan")}
ZERO = Starter(mean=0.0, sd=1.0, n=8)


@pytest.fixture
def valid(make_card):
    def make(improvement, **changes):
        score = 100.0 * (1 - improvement)
        return make_card(score=score, improvement=improvement, **changes)

    return make


def test_a_rate_comes_with_its_interval(make_card, valid):
    found = tally([valid(0.3, success=True), make_card()])
    assert found.rate.value == 0.5
    assert 0 < found.rate.low < 0.5 < found.rate.high < 1


def test_what_left_nothing_valid_counts_as_no_improvement_or_not_at_all(
    make_card, valid
):
    found = tally([valid(0.5), valid(0.1), make_card(), make_card()])
    assert found.improvement_valid == pytest.approx(0.3)
    assert found.improvement_all == pytest.approx(0.15)
    assert (found.valid, found.runs) == (2, 4)


@pytest.mark.parametrize("ending", [one for one in Ending if not one.counts])
def test_a_run_that_does_not_count_is_in_no_average_but_counted_apart(
    make_card, valid, ending
):
    cards = [valid(0.5, success=True), make_card(ending=ending)]
    found = tally(cards)
    assert counted(cards) == cards[:1]
    assert (found.runs, found.successes, found.valid, found.apart) == (1, 1, 1, 1)
    assert found.improvement_all == 0.5


def test_an_improvement_that_is_not_finite_counts_as_none(valid):
    found = tally([valid(0.5, seed=1), valid(0.2).model_copy(update=NOT_FINITE)])
    assert found.improvement_all == pytest.approx(0.25)


def test_of_no_runs_nothing_is_said():
    found = tally([])
    assert (found.improvement_all, found.improvement_valid) == (None, None)
    assert found.rate.n == 0


@pytest.mark.parametrize("starter", [None, ZERO])
def test_without_a_starter_to_count_from_no_mean_is_claimed(make_card, starter):
    cards = [make_card(starter=starter), make_card(starter=starter, score=5.0)]
    found = tally(cards)
    assert (found.improvement_all, found.improvement_valid) == (None, None)
    assert (found.valid, found.runs) == (1, 2)


def test_starter_too_close_to_zero_has_no_mean_improvement(make_card):
    found = tally([make_card(score=5.0, improvement=None), make_card(seed=2)])
    assert (found.improvement_all, found.improvement_valid) == (None, None)
    assert found.runs == 2


def test_no_improvement_is_zero_and_never_minus_zero(make_card, valid):
    assert str(improvement_or_zero(make_card(direction="lower"))) == "0.0"
    assert str(improvement_or_zero(valid(-0.0))) == "0.0"


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
    assert given_away(valid(0.5)) is None
    assert given_away(make_card(best_step=best, starter=None)) is None
    assert given_away(make_card(best_step=best, starter=ZERO)) is None
    assert given_away(make_card(best_step=best, score=50.0)) is None
