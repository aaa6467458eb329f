import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mlagentbench.core.scorecard import Mark, ProcessCheck
from mlagentbench.evaluation.llm_judge import (
    CRITERIA,
    RELATED_CHECKS,
    Vote,
    agrees_with_itself,
    agrees_with_rules,
    beside_rules,
    opinion_of,
)
from mlagentbench.evaluation.process.examine import CHECKS

marks = st.lists(st.integers(1, 5), min_size=len(CRITERIA), max_size=len(CRITERIA))


def vote(*given):
    """One mark for all criteria, or one for each."""
    each = given * len(CRITERIA) if len(given) == 1 else given
    judged = zip(CRITERIA, each, strict=True)
    return Vote(
        judged={name: {"mark": mark, "reason": f"{mark}!"} for name, mark in judged}
    )


def checks(**found):
    return {name: ProcessCheck(value=value) for name, value in found.items()}


def all_checks(value):
    names = [check for several in RELATED_CHECKS.values() for check in several]
    return checks(**dict.fromkeys(names, value))


def test_an_opinion_is_the_median_of_its_votes_with_the_nearest_reason():
    opinion = opinion_of("m", [vote(1), vote(5), vote(4)], {}, tokens=7, cost_usd=0.5)
    assert set(opinion.marks) == set(CRITERIA)
    assert opinion.marks["plan"] == Mark(median=4, votes=(1, 5, 4), quote="4!")
    assert (opinion.tokens, opinion.cost_usd) == (7, 0.5)


def test_between_two_votes_the_median_lies_in_the_middle():
    assert opinion_of("m", [vote(2), vote(3)], {}).marks["plan"].median == 2.5


def test_unreadable_votes_are_counted_and_give_no_mark():
    opinion = opinion_of("m", [None, vote(4), None], {})
    assert opinion.unreadable == 2
    assert opinion.marks["plan"].votes == (4,)


def test_without_any_readable_vote_there_are_no_marks_and_no_agreement():
    opinion = opinion_of("m", [None, None], all_checks(1))
    assert opinion.unreadable == 2
    assert opinion.marks == {}
    assert opinion.agrees_with_itself is None
    assert opinion.agrees_with_rules is None


def test_a_single_vote_cannot_agree_with_itself():
    assert opinion_of("m", [vote(4)], {}).agrees_with_itself is None


def test_agreement_with_itself_is_the_share_of_pairs_at_most_one_apart():
    assert agrees_with_itself({"plan": Mark(median=3, votes=(2, 3, 4))}) == 2 / 3
    same = opinion_of("m", [vote(4), vote(5)], {})
    assert same.agrees_with_itself == 1
    apart = opinion_of("m", [vote(1), vote(5)], {})
    assert apart.agrees_with_itself == 0


@pytest.mark.parametrize(
    ("mark", "process", "agrees"),
    [
        (1, all_checks(2), 1),
        (5, all_checks(0), 1),
        (5, all_checks(1), 0),
        (2, all_checks(0), 0),
        (3, all_checks(0), 1),
        (5, all_checks(0) | checks(same_exception=1), 0.8),
        (1, checks(forbidden=3), 1),
        (1, {}, None),
        (1, checks(unheard_of=3), None),
    ],
)
def test_judge_agrees_with_the_checks_if_both_object_or_none(mark, process, agrees):
    assert opinion_of("m", [vote(mark)], process).agrees_with_rules == agrees


def test_a_criterion_without_a_mark_is_not_compared():
    assert agrees_with_rules({}, all_checks(1)) is None


def test_an_earlier_opinion_stays_and_is_compared_with_the_rules_of_now():
    before = opinion_of("m", [vote(1), vote(2)], all_checks(0), tokens=9)
    now = beside_rules(before, all_checks(1))
    assert (before.agrees_with_rules, now.agrees_with_rules) == (0, 1)
    assert now.model_copy(update={"agrees_with_rules": 0}) == before
    assert beside_rules(None, all_checks(1)) is None


def test_each_related_check_exists_and_has_one_criterion():
    related = [check for several in RELATED_CHECKS.values() for check in several]
    assert set(related) <= set(CHECKS)
    assert len(related) == len(set(related))


@pytest.mark.parametrize("mark", [0, 6, True, 3.0, "3", None])
def test_a_mark_that_is_no_whole_number_from_1_to_5_is_refused(mark):
    judged = vote(3).model_dump()["judged"]
    with pytest.raises(ValidationError):
        Vote(judged=judged | {"plan": {"mark": mark, "reason": "because"}})


@pytest.mark.parametrize(
    "changed",
    [
        {"plan": {"mark": 3}},
        {"plan": {"mark": 3, "reason": ""}},
        {"plan": {"mark": 3, "reason": 7}},
        {"plan": {"mark": 3, "reason": "because", "score": 1}},
        {"plan": 3},
        {"beauty": {"mark": 3, "reason": "because"}},
    ],
)
def test_a_vote_that_is_not_of_the_form_is_refused(changed):
    with pytest.raises(ValidationError):
        Vote(judged=vote(3).model_dump()["judged"] | changed)


def test_a_vote_that_leaves_a_criterion_out_is_refused():
    judged = vote(3).model_dump()["judged"]
    del judged["honesty"]
    with pytest.raises(ValidationError, match="each once"):
        Vote(judged=judged)


@given(st.lists(marks, min_size=1, max_size=6), st.booleans())
def test_agreement_is_a_share_and_does_not_depend_on_the_order_of_votes(many, found):
    votes = [vote(*one) for one in many]
    process = all_checks(int(found))
    forth = opinion_of("m", votes, process)
    back = opinion_of("m", votes[::-1], process)
    assert forth.agrees_with_itself == back.agrees_with_itself
    assert forth.agrees_with_rules == back.agrees_with_rules
    for share in (forth.agrees_with_itself, forth.agrees_with_rules):
        assert share is None or 0 <= share <= 1
