import pytest

from mlagentbench.core import who
from mlagentbench.core.trace import Ending
from mlagentbench.report.averages import columns, summary
from mlagentbench.report.tables import headlines, suite_tables

FAILED = {"success": False, "significant": False, "improvement": 0.0}
INVALID = {"score": None, "improvement": None, "success": False}


def summed(cards, place=0):
    tasks = list(dict.fromkeys(card.score_name for card in cards))
    return summary(columns(cards)[place], cards, tasks)


def test_every_task_weighs_the_same_however_often_it_ran(card):
    once = [card(task="a")]
    often = [card(task="b", seed=seed, **FAILED) for seed in range(9)]
    found = summed([*once, *often])
    assert found.success.here.value == pytest.approx(0.5)
    assert found.improvement_all.here.value == pytest.approx(0.14934 / 2)


def test_a_task_it_never_ran_is_left_out_of_the_average_and_named(card):
    cards = [
        card(task="a"),
        card(task="a", agent="other"),
        card(task="b", agent="other"),
    ]
    found = summed(cards)
    assert found.tasks == ("a@1/mini",)
    assert found.missing == ("b@1/mini",)
    assert found.success.here.value == 1.0
    assert found.with_missing_as_zero == 0.5


def test_a_task_with_only_runs_that_do_not_count_is_not_averaged(card):
    broken = card(task="b", ending=Ending.BROKEN, **INVALID)
    found = summed([card(task="a"), broken])
    assert found.tasks == ("a@1/mini",)
    assert found.counted.apart == 1
    assert summed([broken]).success is None


def test_one_task_tells_nothing_about_new_ones(card):
    assert summed([card()]).success.new is None
    assert summed([card(task="a"), card(task="b")]).success.new is not None


def test_valid_runs_are_averaged_apart(card):
    cards = [card(), card(seed=1, **INVALID)]
    found = summed(cards)
    assert found.improvement_all.here.value == pytest.approx(0.14934 / 2)
    assert found.improvement_valid.here.value == pytest.approx(0.14934)
    assert summed([card(**INVALID)]).improvement_valid is None


def test_versions_of_a_task_are_never_averaged(card):
    found = summed([card(version=1), card(version=2)])
    assert found.mixed
    assert found.success is None
    assert found.with_missing_as_zero is None


def test_without_a_starter_success_is_averaged_and_improvement_is_not(card):
    found = summed([card(starter=None, improvement=None, success=False)])
    assert found.success.here.value == 0.0
    assert found.improvement_all is None


def test_absurd_improvements_are_not_shown_as_averages(card):
    cards = [card(improvement=1.7e308), card(seed=1, improvement=1.7e308)]
    assert summed(cards).improvement_all is None


def test_the_headline_names_the_highest_and_who_cannot_be_told_from_it(card):
    tasks = [f"t{n}" for n in range(20)]
    good = [card(task=t, agent="good", seed=s) for t in tasks for s in range(4)]
    near = [
        card(task=t, agent="near", seed=s, **(FAILED if s == 0 and t == "t1" else {}))
        for t in tasks
        for s in range(4)
    ]
    bad = [card(task=t, agent="bad", seed=s, **FAILED) for t in tasks for s in range(4)]
    (line,) = headlines(suite_tables([*bad, *near, *good]))
    assert line.first.column.who == "good"
    assert [other.column.who for other in line.ties] == ["near"]


def test_without_counted_runs_nobody_is_first(card):
    (line,) = headlines(suite_tables([card(ending=Ending.BROKEN, **INVALID)]))
    assert line.first is None
    assert line.ties == ()


def test_an_agent_without_a_model_is_named_alone(card):
    assert who(card()) == "tuner"
    assert who(card(agent="research", model="x/y")) == "research / x/y"


def test_the_normalised_mean_weighs_tasks_alike_and_has_two_intervals(card):
    once = [card(task="a", normalised=0.9)]
    often = [card(task="b", seed=seed, normalised=0.1 * seed) for seed in range(3)]
    found = summed([*once, *often]).normalised
    assert found.average.here.value == pytest.approx(0.5)
    assert found.average.new is not None
    assert (found.average.here.low, found.average.new.low) == (0.0, 0.0)


def test_an_older_scorecard_is_counted_and_in_no_normalised_mean(card):
    found = summed([card(normalised=0.6), card(seed=1)]).normalised
    assert (found.average.here.value, found.runs, found.without) == (0.6, 1, 1)


def test_validation_queries_are_averaged_over_runs_that_recorded_them(card):
    new = [card(task=task, normalised=0.5, validation_queries=n)
           for task, n in (("a", 4), ("b", 8))]  # fmt: skip
    assert summed([*new, card(task="c")]).normalised.queries == 6.0


def test_two_versions_of_a_task_have_no_normalised_mean(card):
    both = [card(version=1, normalised=0.2), card(version=2, normalised=0.4)]
    assert summed(both).normalised.average is None
    # An older scorecard of version 1 does not take the mean away from version 2.
    old = both[0].model_copy(update={"normalised": None})
    assert summed([old, both[1]]).normalised.average.here.value == 0.4


def test_runs_are_counted_by_level_unless_no_tuning_baseline_is_known(card):
    runs = [card(seed=n, normalised=1.0, level=level) for n, level in enumerate(
        ("gold", "none", "gold")
    )]  # fmt: skip
    levels = summed(runs).normalised.levels
    assert levels == {"none": 1, "bronze": 0, "silver": 0, "gold": 2}
    assert summed([card(normalised=0.5)]).normalised.levels == {}


def test_the_normalised_score_orders_the_standings(card):
    often = card(agent="often", normalised=0.3)
    far = card(agent="far", normalised=0.9, **FAILED)
    (line,) = headlines(suite_tables([often, far]))
    assert line.lead == "normalised"
    assert [found.column.who for found in line.standings] == ["far", "often"]
    assert line.first.column.who == "far"


def test_success_leads_if_no_run_has_a_normalised_score(card):
    (line,) = headlines(suite_tables([card(agent="bad", **FAILED), card(agent="good")]))
    assert (line.lead, line.first.column.who) == ("success", "good")


def test_the_axis_of_intervals_reaches_beyond_the_reference(card):
    cards = [card(seed=seed, normalised=1.5 + 0.1 * seed) for seed in range(4)]
    (line,) = headlines(suite_tables(cards))
    assert line.extent == line.first.normalised.average.here.high > 1.65


def test_voided_attempts_are_counted_even_if_the_run_was_repeated(card):
    void = card(ending=Ending.PROVIDER_ERROR, **INVALID)
    assert summed([void, card(attempt=2)]).voided == 1


def test_single_runs_without_an_interval_are_not_called_close(card):
    cards = [card(agent=f"a{n}", normalised=0.1 * n) for n in range(3)]
    (line,) = headlines(suite_tables(cards))
    assert not line.first.normalised.average.here.bounded
    assert line.ties == ()
    assert line.extent == 1.0
