from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Ending, Trace
from mlagentbench.report.caveats import accounts
from mlagentbench.report.data import ExperimentView, LeftOut
from mlagentbench.report.number_format import caps
from mlagentbench.report.run_rows import run_rows, ungraded_rows


def account(*cards, **more):
    view = ExperimentView(title="t", created="now", cards=cards, **more)
    return accounts(view, run_rows(view, caps(1)), ungraded_rows(view, caps(1)))


def asked(count):
    return tuple(
        RunId(task="house-price", agent="tuner", model="none", seed=seed)
        for seed in range(count)
    )


def test_every_run_that_was_asked_for_is_in_exactly_one_column(card, step):
    cards = (
        card(seed=0),
        card(seed=1, ending=Ending.BROKEN, reason="disk full"),
        card(seed=2, ending=Ending.OUT_OF_TIME, score=None),
    )
    left = Trace(run="house-price:tuner:none:3", steps=(step("x"),))
    found = account(*cards, asked=asked(5), traces=(left,))
    assert found.columns == ("submitted", "out of time", "broken", "no scorecard")
    assert found.uncounted == ("broken", "no scorecard")
    assert found.totals == (1, 1, 1, 2)
    assert found.runs == found.planned == 5


def test_agents_are_counted_apart_and_add_up(card):
    cards = [card(seed=seed) for seed in range(3)]
    cards += [card(agent="research", model="m", ending=Ending.CRASHED)]
    found = account(*cards)
    assert [(line.who, line.counts, line.total) for line in found.agents] == [
        ("tuner", (3, 0), 3),
        ("research / m", (0, 1), 1),
    ]
    assert found.planned is None


def test_a_repeated_run_is_counted_once_and_its_first_attempt_is_named(card):
    broken = card(ending=Ending.BROKEN, reason="disk full", attempt=1)
    found = account(broken, card(attempt=2), asked=asked(1))
    assert found.runs == 1
    assert found.totals == (1,)
    (excluded,) = found.excluded
    assert excluded.why == "disk full; it was repeated, and the last attempt counts"


def test_each_excluded_run_is_named_with_its_reason(card):
    broken = card(seed=1, ending=Ending.BROKEN, reason="disk full")
    twice = LeftOut(run="x", why="b holds it too")
    found = account(broken, asked=asked(3), left_out=(twice,))
    assert [(one.run, one.kind, one.why) for one in found.excluded] == [
        ("house-price:tuner:none:1", "broken", "disk full"),
        ("house-price:tuner:none:0", "no scorecard", "it left no steps"),
        ("house-price:tuner:none:2", "no scorecard", "it left no steps"),
        ("x", "left out", "b holds it too"),
    ]


def test_counted_runs_without_a_score_are_listed(card):
    found = account(card(score=None, submission_error="no file"), card(seed=1))
    assert [(one.run, one.why) for one in found.failed] == [
        ("house-price:tuner:none:0", "no file")
    ]


def test_nothing_at_all_is_counted_as_nothing():
    found = account()
    assert (found.columns, found.agents, found.runs) == ((), (), 0)
