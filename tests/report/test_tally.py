import pytest

from mlagentbench.core.ending import Ending
from mlagentbench.report.tally import endings, standings, tally, who, wilson

NOTHING = {"score": None, "improvement": None, "success": False, "significant": False}


@pytest.mark.parametrize(
    ("successes", "runs", "low", "high"),
    [
        # Newcombe 1998, table I, method 3, and the closed forms at the ends.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilson_agrees_with_the_published_intervals(successes, runs, low, high):
    assert wilson(successes, runs) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_no_runs_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_run_without_a_submission_counts_as_no_improvement(card):
    counted = tally([card(improvement=0.3), card(**NOTHING)])
    assert counted.runs == 2
    assert counted.valid == 1
    assert counted.improvement_all == pytest.approx(0.15)
    assert counted.improvement_valid == pytest.approx(0.3)


@pytest.mark.parametrize("ending", [e for e in Ending if not e.counts])
def test_runs_that_do_not_count_enter_no_number(card, ending):
    counted = tally([card(), card(ending=ending, **NOTHING)])
    assert (counted.runs, counted.successes) == (1, 1)


def test_an_improvement_that_is_not_finite_counts_as_none(card):
    counted = tally([card(improvement=float("nan")), card(improvement=0.2)])
    assert counted.improvement_all == pytest.approx(0.1)


def test_versions_of_a_task_are_never_averaged(card):
    mixed = tally([card(version=1), card(version=2)])
    assert (mixed.runs, mixed.successes) == (2, 2)
    assert mixed.improvement_all is None
    assert mixed.improvement_valid is None


def test_without_a_measured_starter_no_mean_is_claimed(card):
    counted = tally([card(starter=None, improvement=None, success=False)])
    assert counted.valid == 1
    assert counted.improvement_all is None


def test_nothing_can_be_tallied(card):
    assert tally([]).improvement_all is None


def test_standings_keep_agents_models_and_editions_apart(card):
    cards = [
        card(),
        card(model="a/b"),
        card(edition="full"),
        card(seed=1),
    ]
    found = [(s.who, s.edition, s.tally.runs) for s in standings(cards)]
    assert found == [
        ("tuner", "mini", 2),
        ("tuner / a/b", "mini", 1),
        ("tuner", "full", 1),
    ]


def test_an_agent_without_a_model_is_named_alone(card):
    assert who(card()) == "tuner"
    assert who(card(agent="research", model="x/y")) == "research / x/y"


def test_every_ending_that_occurred_is_counted(card):
    cards = [card(), card(ending=Ending.BROKEN), card(ending=Ending.BROKEN)]
    found = [(count.ending, count.runs) for count in endings(cards)]
    assert found == [(Ending.SUBMITTED, 1), (Ending.BROKEN, 2)]
