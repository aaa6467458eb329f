import random
import statistics

import pytest

from mlagentbench.evaluation.statistics.intervals import (
    TIMING_CONFIDENCE,
    median_interval,
)


def test_five_values_give_the_least_and_the_greatest():
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) == (1.0, 5.0)


@pytest.mark.parametrize("values", [[2.0], [2.0, 1.0], [1.0, 3.0, 2.0]])
def test_few_values_give_their_whole_range(values):
    assert median_interval(values) == (min(values), max(values))


def test_many_values_leave_the_outermost_out():
    low, high = median_interval([float(value) for value in range(21)])
    assert 0 < low < 10 < high < 20


@pytest.mark.parametrize("n", [5, 6, 8, 13, 40])
def test_the_interval_holds_the_median_as_often_as_it_says(n):
    draw = random.Random(n)
    held = 0
    for _ in range(4000):
        low, high = median_interval([draw.expovariate(1) for _ in range(n)])
        held += low <= 0.6931 <= high
    assert held / 4000 > TIMING_CONFIDENCE - 0.015


def test_the_interval_holds_the_sample_median():
    draw = random.Random(1)
    values = [draw.random() for _ in range(9)]
    low, high = median_interval(values)
    assert low <= statistics.median(values) <= high
