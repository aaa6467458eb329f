import math

import pytest

from mlagentbench.report.number_format import (
    dollars,
    duration,
    number,
    percent,
    share,
    with_unit,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (21043.1, "21,043"),
        (185078, "185,078"),
        (0.83124, "0.8312"),
        (0.05, "0.05000"),
        (1.0, "1.000"),
        (-12.345, "-12.35"),
        (0, "0"),
        (2.5e-7, "2.500e-07"),
        (3e12, "3.000e+12"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (None, "none"),
    ],
)
def test_numbers_keep_four_digits_or_their_whole_part(value, written):
    assert number(value) == written


def test_a_unit_follows_its_number_but_not_a_missing_one():
    assert with_unit(21043.1, "USD") == "21,043 USD"
    assert with_unit(0.5, "") == "0.5000"
    assert with_unit(None, "USD") == "none"


@pytest.mark.parametrize(
    ("fraction", "written"),
    [
        (0.1234, "+12.3 %"),
        (-0.08, "-8.0 %"),
        (0.10, "+10.0 %"),
        (0.0996, "+9.96 %"),
        (0.09996, "+9.996 %"),
        (0.10001, "+10.001 %"),
        (-8.3, "-830.0 %"),
        (-1e300, "-1.0e+302 %"),
        (None, "none"),
        (math.nan, "nan"),
    ],
)
def test_percentages_carry_their_sign_and_never_round_onto_the_bar(fraction, written):
    assert percent(fraction) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "0.0 s"),
        (9.96, "10.0 s"),
        (42.4, "42 s"),
        (59.7, "1 min 00 s"),
        (185, "3 min 05 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_durations_use_the_two_units_that_matter(seconds, written):
    assert duration(seconds) == written


def test_prices_and_shares_are_short():
    assert dollars(0) == "$0.00"
    assert dollars(0.00312) == "$0.0031"
    assert dollars(1234.5) == "$1,234.50"
    assert share(0.386) == "39 %"
