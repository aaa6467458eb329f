"""Comparing the runs of two sides."""

import random

import pytest
from tests.paper.fixture import paper_cards

from mlagentbench.core.scorecard import SandboxUsed, Starter
from mlagentbench.core.trace import Ending
from mlagentbench.core.units import Units
from mlagentbench.evaluation.statistics.compare import (
    AgentRuns,
    by_name,
    compare,
    compare_all,
)


def side(name, *cards):
    return AgentRuns(name=name, cards=cards)


def paper(model):
    return side(model, *(card for card in paper_cards() if card.model == model))


def closed(card, task, gap, seed=1, **more):
    """Make the scorecard of a run that closed so much of the gap; None for invalid."""
    return card(
        task, None if gap is None else 0.5 * gap, seed=seed, gap_closed=gap,
        reference=Starter(mean=3.0, sd=0.0, n=8), **more,
    )  # fmt: skip


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


def test_runs_without_a_valid_submission_have_closed_none_of_the_gap(card):
    a = side("A", closed(card, "x", 0.6), closed(card, "x", None, seed=2))
    b = side("B", closed(card, "x", -0.2), closed(card, "x", -0.4, seed=2))
    found = compare(a, b)
    assert found.gap_closed.difference.value == pytest.approx(0.3 + 0.3)
    one, two = found.tasks[0].gap_closed
    assert (one.value, one.n) == (pytest.approx(0.3), 2)
    assert two.value == pytest.approx(-0.3)


def test_a_task_without_a_known_gap_is_compared_by_the_other_measures_only(card):
    a = side("A", closed(card, "x", 0.6), card("y", 0.5))
    b = side("B", closed(card, "x", 0.2), card("y", 0.1))
    found = compare(a, b)
    assert [one.task for one in found.gap_unknown] == ["y@1/mini"]
    assert "no place" in found.gap_unknown[0].why
    assert found.gap_closed.difference.value == pytest.approx(0.4)
    assert found.improvement.a.tasks == 2
    assert [pair.gap_closed[0].n for pair in found.tasks] == [1, 0]
    lone = compare(side("A", card("y", 0.5)), side("B", card("y", 0.1)))
    assert lone.gap_closed is None


def test_version_one_and_two_of_a_task_are_never_averaged(card):
    runs = [closed(card, "x", 0.9), closed(card, "x", 0.1, version=2)]
    found = compare(side("A", *runs), side("B", *runs))
    assert [pair.task for pair in found.tasks] == ["x@2/mini"]
    assert found.gap_closed.a.value == pytest.approx(0.1)
    assert found.gap_closed.a.n == 1
    assert set(by_name(runs)) == {"x@1/mini", "x@2/mini"}


def with_units(card, name, noise, gaps, own=0.05):
    """Make an agent whose runs err by `noise` on each of 60 items."""
    draw = random.Random(name)
    cards, tables = [], {}
    for seed, gap in enumerate(gaps):
        cards.append(closed(card, "x", gap, seed=seed, agent=name))
        values = [2.0 + gap + each + draw.gauss(0, own) for each in noise]
        tables[cards[-1].run] = Units(values=tuple((value,) for value in values))
    return AgentRuns(name=name, cards=tuple(cards), units=tables)


def test_noise_of_the_test_set_is_part_of_the_difference(card):
    draw = random.Random(1)
    shared, other = ([draw.gauss(0, 2) for _ in range(60)] for _ in range(2))
    a = with_units(card, "A", shared, [0.50, 0.52, 0.51])
    same = with_units(card, "B", shared, [0.40, 0.42, 0.41])
    differs = with_units(card, "B", other, [0.40, 0.42, 0.41])
    close, far = compare(a, same), compare(a, differs)
    bare = compare(a, differs.model_copy(update={"units": {}}))
    assert close.paired_tasks == far.paired_tasks == ("x@1/mini",)
    assert bare.paired_tasks == ()

    def half(found):
        return found.gap_closed.difference.high - found.gap_closed.difference.value

    assert half(close) == pytest.approx(half(bare), rel=0.2)
    assert half(far) > 10 * half(bare)
    assert far.gap_closed.runs_p > bare.gap_closed.runs_p + 0.2
    assert far.gap_closed.detectable.these_tasks > 0.5
    assert far.improvement == bare.improvement


def test_units_need_a_reference_and_distinct_names_of_runs(card):
    a = with_units(card, "A", [0.0, 1.0, 2.0], [0.5, 0.6])
    twice = a.model_copy(update={"cards": (a.cards[0], a.cards[0])})
    bare = [one.model_copy(update={"reference": None}) for one in a.cards]
    unknown = a.model_copy(update={"cards": tuple(bare)})
    for other in (twice, unknown):
        assert compare(a, other).paired_tasks == ()


def test_p_values_of_the_gap_are_corrected_for_all_pairs(card):
    sides = [
        side(name, *(closed(card, "x", gap + 0.01 * seed, seed) for seed in range(4)))
        for name, gap in (("A", 0.1), ("B", 0.5), ("C", 0.9))
    ]
    for pair in compare_all(sides):
        assert pair.gap_closed.runs_holm_p > pair.gap_closed.runs_p
