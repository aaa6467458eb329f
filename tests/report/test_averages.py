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
    assert [other.column.who for other in line.level] == ["near"]


def test_without_counted_runs_nobody_is_first(card):
    (line,) = headlines(suite_tables([card(ending=Ending.BROKEN, **INVALID)]))
    assert line.first is None
    assert line.level == ()


def test_an_agent_without_a_model_is_named_alone(card):
    assert who(card()) == "tuner"
    assert who(card(agent="research", model="x/y")) == "research / x/y"
