"""Where variance comes from."""

import numpy as np
import pytest

from mlagentbench.core.scorecard import Starter
from mlagentbench.evaluation.statistics.variance import gain, split, succeeds


def study(card, *, task_sd, seed_sd, starter=None, tasks=40, runs=20):
    random = np.random.default_rng(7)
    more = {"starter": starter} if starter else {}
    return {
        str(task): [
            card(str(task), centre + random.normal(0, seed_sd), seed=seed, **more)
            for seed in range(runs)
        ]
        for task, centre in enumerate(random.normal(0.5, task_sd, tasks))
    }


def test_tasks_and_seeds_are_told_apart(card):
    found = split(study(card, task_sd=0.3, seed_sd=0.1), gain)
    assert found.task == pytest.approx(0.09, rel=0.5)
    assert found.seed == pytest.approx(0.01, rel=0.2)
    assert found.baseline == 0


def test_tasks_that_are_alike_add_nothing(card):
    found = split(study(card, task_sd=0.0, seed_sd=0.5), gain)
    assert found.task < 0.02 * found.total
    assert found.seed / found.total > 0.9


def test_a_starter_that_is_poorly_known_takes_its_share_of_what_differs_by_task(card):
    poor = Starter(mean=2.0, sd=0.4, n=4)
    found = split(study(card, task_sd=0.3, seed_sd=0.1, starter=poor), gain)
    # A standard error of 0.2 in 2 shifts a score of 1.5 starters by 15 points.
    assert found.baseline == pytest.approx(0.15**2, rel=0.25)
    assert found.task > 0


def test_success_near_the_bar_hangs_on_the_starter(card):
    poor = Starter(mean=2.0, sd=0.4, n=4)
    near = {t: [card(t, g, starter=poor)] for t, g in (("a", 0.11), ("b", 0.09))}
    far = {t: [card(t, g, starter=poor)] for t, g in (("a", 0.9), ("b", -0.5))}
    assert split(near, succeeds).baseline > 0.1
    assert split(far, succeeds).baseline == 0


def test_single_runs_do_not_tell_what_the_seed_does(card):
    found = split({"a": [card("a", 0.5)], "b": [card("b", 0.1)]}, gain)
    assert found.seed is None
    assert found.total == found.task == pytest.approx(0.08)


def test_single_runs_among_repeated_ones_are_taken_to_spread_like_them(card):
    cells = {
        "a": [card("a", 0.5), card("a", 0.7)],
        "b": [card("b", 0.1)],
    }
    found = split(cells, gain)
    assert found.seed == pytest.approx(0.02)
    assert found.task == pytest.approx(0.125 - (0.01 + 0.02) / 2)


def test_a_run_without_a_valid_submission_gains_nothing(card):
    assert gain(card("a", None), 2.0) == 0
    assert succeeds(card("a", None), 2.0) == 0
    assert gain(card("a", 0.5), 0.0) == 0


def test_one_task_cannot_be_split(card):
    assert split({"a": [card("a", 0.5), card("a", 0.7)], "b": []}, gain) is None
