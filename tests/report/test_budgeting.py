from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.report.number_format import (
    caps,
    fitted,
    fitted_end,
    fitting,
    listed,
    written_size,
)

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
