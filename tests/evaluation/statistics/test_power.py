import numpy as np
import pytest

from mlagentbench.evaluation.statistics.power import (
    detectable_of_means,
    detectable_of_rates,
    in_words,
)
from mlagentbench.evaluation.statistics.significance import contrast_rates

HALF = [True, False] * 4


def detectable(runs):
    return detectable_of_rates(sides(runs), sides(runs)).these_tasks


def sides(runs, tasks=13):
    return {str(task): runs for task in range(tasks)}


def test_it_is_said_in_words():
    said = in_words(detectable_of_rates(sides(HALF), sides(HALF)))
    assert said.startswith(
        "With 8 runs on 13 tasks a difference under 19 points cannot"
    )
    assert "told apart from noise" in said


def test_what_holds_for_tasks_in_general_is_said_too():
    spread = {str(task): [task < 6] * 2 for task in range(13)}
    said = in_words(detectable_of_rates(sides([True, False]), spread))
    assert "for tasks like these in general, one under" in said


def test_uneven_numbers_of_runs_are_said_as_they_are():
    found = detectable_of_rates({"a": [True] * 5, "b": [True]}, {"a": HALF, "b": HALF})
    assert in_words(found).startswith("With 1 to 8 runs on 2 tasks")


def test_one_run_of_one_task_tells_nothing_about_noise():
    found = detectable_of_means({"a": [0.1]}, {"a": [0.2]})
    assert in_words(found) == (
        "With 1 run on 1 task the detectable difference is unknown."
    )


def test_rates_cannot_be_further_apart_than_never_and_always():
    said = in_words(detectable_of_rates({"a": [True]}, {"a": [False]}))
    assert "a difference under 100 points" in said


def test_small_differences_keep_their_digits():
    a = {"a": [0.1, 0.1001], "b": [0.1, 0.1001]}
    assert "under 0.0" in in_words(detectable_of_means(a, a))


def test_more_runs_show_smaller_differences():
    assert detectable(HALF) == pytest.approx(0.194, abs=0.001)
    assert detectable(HALF * 4) == pytest.approx(detectable(HALF) / 2)
    assert detectable([True] + [False] * 7) < detectable(HALF)


def test_four_times_in_five_a_difference_that_large_is_found():
    random = np.random.default_rng(1)
    apart, found, studies = detectable(HALF), 0, 400
    for _ in range(studies):
        a = random.random((13, 8)) < 0.5 + apart / 2
        b = random.random((13, 8)) < 0.5 - apart / 2
        sides = [dict(enumerate(side.tolist())) for side in (a, b)]
        found += contrast_rates(*sides).difference.low > 0
    assert found / studies == pytest.approx(0.8, abs=0.06)
