"""Comparing the runs of two sides."""

import pytest
from tests.paper.fixture import paper_cards

from mlagentbench.core.scorecard import SandboxUsed, Starter
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.statistics.compare import AgentRuns, compare, compare_all


def side(name, *cards):
    return AgentRuns(name=name, cards=cards)


def paper(model):
    return side(model, *(card for card in paper_cards() if card.model == model))


def why(comparison):
    return {one.task: one.why for one in comparison.left_out}


def test_eight_runs_do_not_separate_the_papers_best_two_over_tasks():
    found = compare(paper("Claude v3 Opus"), paper("GPT-4-turbo"))
    assert found.success.a.value == pytest.approx(0.375)
    assert found.success.b.value == pytest.approx(0.26, abs=0.0005)
    assert (found.success.better, found.success.worse) == (7, 1)
    assert found.success.permutation_p > 0.05
    assert found.success.over_tasks.low < 0 < found.success.over_tasks.high
    assert found.left_out == ()


def test_tasks_that_the_papers_baseline_lacks_are_named():
    found = compare(paper("GPT-4"), paper("Baseline"))
    assert len(found.tasks) == 8
    assert why(found)["imdb@1/paper"] == "Baseline has no run of it"
    assert len(found.left_out) == 5
    sevens = next(pair for pair in found.tasks if pair.task == "CLRS@1/paper")
    assert (sevens.success[1].n, sevens.success[1].value) == (7, 3 / 7)


def test_versions_and_editions_are_never_compared(card):
    a = side("A", card("x", 0.5), card("y", 0.5), card("z", 0.5))
    b = side("B", card("x", 0.1, version=2), card("y", 0.1, edition="full"), card("z"))
    found = compare(a, b)
    assert [pair.task for pair in found.tasks] == ["z@1/mini"]
    assert why(found) == {
        "x@1/mini": "B has it only as x@2/mini, which is another task",
        "y@1/mini": "B has it only as y@1/full, which is another task",
        "x@2/mini": "A has it only as x@1/mini, which is another task",
        "y@1/full": "A has it only as y@1/mini, which is another task",
    }


def test_folders_of_one_version_with_different_digests_are_never_compared(card):
    a = side("A", card("x", 0.5, task_digest="a" * 64), card("y", 0.5))
    b = side("B", card("x", 0.1, task_digest="b" * 64), card("y"))
    found = compare(a, b)
    assert [pair.task for pair in found.tasks] == ["y@1/mini"]
    assert why(found) == {
        "x@1/mini (aaaaaaaa)": "B has it only as x@1/mini (bbbbbbbb), which is another"
        " state of the task folder",
        "x@1/mini (bbbbbbbb)": "A has it only as x@1/mini (aaaaaaaa), which is another"
        " state of the task folder",
    }


def test_a_run_with_a_stale_baseline_is_not_compared(card):
    stale = card("x", 0.5, baseline_error="the folder changed")
    found = compare(side("A", stale), side("B", card("x", 0.1)))
    assert found.tasks == ()
    assert why(found) == {
        "x@1/mini": "no run of A on it counts; stale baseline: the folder changed"
    }
    assert found.a.not_counted == {"stale baseline": 1}


def test_of_several_shared_forms_the_newest_in_the_commonest_edition_is_compared(card):
    forms = [
        {"version": 2}, {"version": 10}, {"version": 11, "edition": "full"},
    ]  # fmt: skip
    cards = [card("x", 0.5, **form) for form in forms] + [card("y", 0.5)]
    found = compare(side("A", *cards), side("B", *cards))
    assert [pair.task for pair in found.tasks] == ["x@10/mini", "y@1/mini"]
    assert why(found) == {
        "x@2/mini": "another form of the task is compared",
        "x@11/full": "another form of the task is compared",
    }


def test_runs_that_do_not_count_are_counted_and_never_averaged(card):
    broken = [card("x", 0.9, seed=seed, ending=Ending.BROKEN) for seed in (2, 3)]
    gone = card("y", None, ending=Ending.PROVIDER_ERROR)
    a = side("A", card("x", 0.0), *broken, gone)
    found = compare(a, side("B", card("x", 0.2), card("y", 0.2)))
    assert found.a.not_counted == {"broken": 2, "provider_error": 1}
    assert found.a.runs == 1
    assert found.success.a.value == 0
    assert why(found) == {"y@1/mini": "no run of A on it counts"}


def test_a_task_without_a_starter_is_left_out(card):
    a = side("A", card("x", 0.2, starter=None), card("y", 0.2))
    b = side("B", card("x"), card("y", starter=Starter(mean=0.0, sd=0.0, n=1)))
    reason = "it has no starter to count improvement from"
    assert why(compare(a, b)) == {"x@1/mini": reason, "y@1/mini": reason}


def test_task_whose_starter_is_too_close_to_zero_is_left_out(card):
    shapeless = card("x", 0.2).model_copy(update={"improvement": None})
    found = compare(side("A", shapeless), side("B", card("x", 0.2)))
    assert why(found) == {"x@1/mini": "it has no starter to count improvement from"}


def test_with_nothing_in_common_nothing_is_said(card):
    found = compare(side("A", card("x")), side("B", card("y")))
    assert found.tasks == ()
    assert found.success is None
    assert found.improvement is None
    assert found.a.runs == 0


def test_a_run_without_a_valid_submission_counts_as_no_improvement(card):
    a = side("A", card("x", 0.4), card("x", None, seed=2))
    found = compare(a, side("B", card("x", 0.2)))
    assert found.improvement.a.value == pytest.approx(0.2)
    assert found.tasks[0].improvement[0].value == pytest.approx(0.2)


def test_starters_that_are_not_the_same_and_missing_sandboxes_are_told(card):
    other = Starter(mean=2.1, sd=0.0, n=8)
    open_air = SandboxUsed(provider="local", limits="none", unsafe=True)
    a = side("A", card("x"), card("y", sandbox=open_air))
    found = compare(a, side("B", card("x", starter=other), card("y")))
    assert found.different_starters == ("x@1/mini",)
    assert (found.a.unsafe, found.b.unsafe) == (1, 0)


def test_several_sides_are_compared_in_pairs_and_corrected():
    names = ("Claude v3 Opus", "GPT-4-turbo", "Mixtral")
    pairs = compare_all([paper(name) for name in names])
    assert [(pair.a.name, pair.b.name) for pair in pairs] == [
        (names[0], names[1]), (names[0], names[2]), (names[1], names[2]),
    ]  # fmt: skip
    least = min(pairs, key=lambda pair: pair.success.permutation_p)
    assert least.success.holm_p == pytest.approx(3 * least.success.permutation_p)
    assert all(pair.comparisons == 3 for pair in pairs)
    assert all(pair.success.runs_holm_p >= pair.success.runs_p for pair in pairs)


def test_a_pair_without_a_common_task_still_counts_among_the_comparisons(card):
    a, b = side("A", card("x", 0.3)), side("B", card("x"))
    pairs = compare_all([a, b, side("C", card("y"))])
    assert [pair.success is None for pair in pairs] == [False, True, True]
    assert pairs[0].comparisons == 3


def test_two_sides_need_no_correction(card):
    [pair] = compare_all([paper("GPT-4"), paper("Mixtral")])
    assert pair.success.holm_p == pair.success.permutation_p
