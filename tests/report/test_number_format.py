import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.report import number_format
from mlagentbench.report.number_format import (
    caps,
    dollars,
    duration,
    fitted,
    fitted_end,
    fitting,
    hundredths,
    listed,
    number,
    percent,
    share,
    with_unit,
    written_size,
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


HOSTILE = st.text(alphabet=st.sampled_from("a<&'\"\u200b\x1b\u20ac\U0001f600\n"))


@given(HOSTILE, st.integers(min_value=30, max_value=300))
def test_a_fitted_text_takes_no_more_than_its_room_however_it_is_escaped(text, limit):
    assert written_size(fitted(text * 20, limit)) <= limit
    assert written_size(fitted_end(text * 20, limit)) <= max(limit, 80)


@given(st.text(alphabet="abc \n", max_size=200))
def test_a_text_that_fits_is_kept_as_it_is(text):
    assert fitted(text, 10_000) == text.rstrip()
    assert fitted_end(text, 10_000) == text.strip()


def test_a_text_that_is_cut_says_how_much_is_missing():
    assert fitted("a" * 1000, 100).startswith("a" * 60)
    assert fitted("a" * 1000, 100).endswith(" more characters)")
    assert fitted("one\ntwo\nthree", 100, lines=1) == "one ... (10 more characters)"
    assert (
        fitted_end("one\ntwo\nthree", 100, lines=1) == "(8 characters before) ... three"
    )


def test_half_characters_and_endless_lines_are_fitted_too():
    assert written_size(fitted("\ud800" * 10_000, 200)) <= 200
    assert fitted("x" * 10**7, 50).endswith(" ...")
    assert fitted("anything", 0) == " ..."


def test_few_runs_show_much_and_many_little():
    one, many, flood = caps(1), caps(416), caps(100_000)
    assert one.items > 20 * many.items
    assert one.text > 10 * many.text
    assert many == flood


def test_lines_are_kept_as_long_as_they_fit_together():
    assert fitting(["a" * 10, "b" * 10, "c"], 50) == ["a" * 10, "b" * 10]
    assert fitting([], 50) == []


def test_long_lists_of_names_end_with_a_count():
    assert listed(["a", "b"], " or ") == "a or b"
    assert listed(map(str, range(8))) == "0, 1, 2, 3, 4, 5 and 2 more"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-15T20:15:09+00:00", "2026-11-15 20:15 UTC"),
        ("2026-11-15T22:15:09+02:00", "2026-11-15 20:15 UTC"),
        ("2026-11-15", "2026-11-15"),
        ("now", "now"),
    ],
)
def test_times_are_written_to_the_minute(text, shown):
    assert number_format.moment(text) == shown


def test_a_normalised_score_has_two_digits_unless_it_is_huge_or_missing():
    assert [hundredths(score) for score in (0.0, 0.618, 1.1)] == [
        "0.00",
        "0.62",
        "1.10",
    ]
    assert hundredths(12_345.6) == "12,346"
    assert hundredths(None) == "none"
