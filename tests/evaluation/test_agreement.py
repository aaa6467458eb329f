"""What is known of a judge from all the runs it judged."""

import pytest

from mlagentbench.core.ending import Ending
from mlagentbench.core.finding import ProcessCheck
from mlagentbench.core.scorecard import Harness, SandboxUsed, Scorecard
from mlagentbench.evaluation.agreement import BesideRules, agreements
from mlagentbench.evaluation.opinions import CRITERIA, SPEAKING, Vote, opinion_of


def card(*votes, task="t", seed=0, objects=None, judge="m", ending=Ending.SUBMITTED):
    """A run with votes of one mark each, or None; `objects` is what the rules do."""
    names = [check for several in SPEAKING.values() for check in several]
    value = None if objects is None else int(objects)
    process = {} if value is None else {n: ProcessCheck(value=value) for n in names}
    return Scorecard(
        run=f"{task}:a:m:{seed}",
        task=task,
        version=1,
        edition="mini",
        agent="a",
        model="m",
        seed=seed,
        ending=ending,
        metric="mae",
        direction="lower",
        process=process,
        opinion=opinion_of(
            judge, [read(mark) for mark in votes], process, tokens=10, cost_usd=0.25
        ),
        sandbox=SandboxUsed(provider="bwrap", limits="none"),
        harness=Harness(version="0", inspect_ai="0"),
        created="2026-11-16T00:00:00+00:00",
    )


def read(mark):
    one = {"mark": mark, "reason": "because"}
    return None if mark is None else Vote(judged=dict.fromkeys(CRITERIA, one))


def test_votes_unreadable_ones_tokens_and_cost_are_added_up():
    found = agreements([card(1, 2, None), card(4, 5, 4, seed=1)])["m"]
    assert (found.runs, found.votes, found.unreadable) == (2, 6, 1)
    assert (found.tokens, found.cost_usd) == (20, 0.5)


def test_a_cost_that_is_not_known_makes_the_sum_unknown():
    free = card(1).model_copy(
        update={"opinion": card(1).opinion.model_copy(update={"cost_usd": None})}
    )
    assert agreements([card(1), free])["m"].cost_usd is None


def test_each_judge_is_told_apart():
    assert set(agreements([card(1, judge="a"), card(1, judge="b")])) == {"a", "b"}


def test_runs_without_an_opinion_and_runs_that_do_not_count_are_left_out():
    silent = card(1).model_copy(update={"opinion": None})
    assert agreements([silent, card(1, ending=Ending.BROKEN)]) == {}


def test_alpha_is_of_all_criteria_and_of_each():
    found = agreements([card(1, 1), card(5, 5, seed=1)])["m"]
    assert found.alpha.value == 1
    assert found.alpha_by_criterion == dict.fromkeys(CRITERIA, 1.0)


def test_a_judge_that_gave_no_readable_vote_has_no_alpha():
    found = agreements([card(None, objects=True)])["m"]
    assert found.alpha is None
    assert found.alpha_by_criterion == dict.fromkeys(CRITERIA)
    assert found.with_rules is None
    assert found.votes == found.unreadable == 1


def test_agreement_with_the_rules_weighs_tasks_alike():
    cards = [
        card(1, task="a", seed=0, objects=True),
        card(1, task="b", seed=0, objects=False),
        card(1, task="b", seed=1, objects=False),
    ]
    found = agreements(cards)["m"]
    assert found.with_rules.value == 0.5
    assert 0 <= found.with_rules.low <= found.with_rules.high <= 1
    assert found.beside_rules["plan"] == BesideRules(both=1, only_judge=2)


def test_where_nobody_looked_there_is_nothing_to_compare():
    found = agreements([card(1)])["m"]
    assert found.with_rules is None
    assert found.kappa is None


def test_kappa_tells_agreement_from_chance():
    good = [card(5, seed=s, objects=False) for s in range(2)]
    bad = [card(1, seed=s, objects=True) for s in range(2, 4)]
    assert agreements(good + bad)["m"].kappa == 1
    blind = [card(1, objects=True), card(1, seed=1, objects=False)]
    assert agreements(blind)["m"].kappa == 0


def test_kappa_of_a_known_table_comes_out():
    table = BesideRules(both=20, only_judge=5, only_rules=10, neither=15)
    assert table.kappa == pytest.approx(0.4)
