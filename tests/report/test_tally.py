import pytest

from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import Starter
from mlagentbench.report.tally import endings, tally, who

NOTHING = {"score": None, "improvement": None, "success": False, "significant": False}


def test_a_rate_comes_with_its_interval(card):
    counted = tally([card(), card(**NOTHING)])
    assert counted.rate.value == 0.5
    assert 0 < counted.rate.low < 0.5 < counted.rate.high < 1


def test_a_run_without_a_submission_counts_as_no_improvement(card):
    counted = tally([card(improvement=0.3), card(**NOTHING)])
    assert counted.runs == 2
    assert counted.valid == 1
    assert counted.improvement_all == pytest.approx(0.15)
    assert counted.improvement_valid == pytest.approx(0.3)


@pytest.mark.parametrize("ending", [e for e in Ending if not e.counts])
def test_runs_that_do_not_count_enter_no_number_but_are_counted_apart(card, ending):
    counted = tally([card(), card(ending=ending, **NOTHING)])
    assert (counted.runs, counted.successes, counted.apart) == (1, 1, 1)


def test_an_improvement_that_is_not_finite_counts_as_none(card):
    counted = tally([card(improvement=float("nan")), card(improvement=0.2)])
    assert counted.improvement_all == pytest.approx(0.1)


@pytest.mark.parametrize("starter", [None, Starter(mean=0.0, sd=0.1, n=8)])
def test_without_a_starter_to_count_from_no_mean_is_claimed(card, starter):
    counted = tally([card(starter=starter, improvement=None, success=False)])
    assert counted.valid == 1
    assert counted.improvement_all is None


def test_nothing_can_be_tallied():
    assert tally([]).improvement_all is None


def test_an_agent_without_a_model_is_named_alone(card):
    assert who(card()) == "tuner"
    assert who(card(agent="research", model="x/y")) == "research / x/y"


def test_every_ending_that_occurred_is_counted(card):
    cards = [card(), card(ending=Ending.BROKEN), card(ending=Ending.BROKEN)]
    found = [(count.ending, count.runs) for count in endings(cards)]
    assert found == [(Ending.SUBMITTED, 1), (Ending.BROKEN, 2)]
