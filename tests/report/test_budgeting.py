from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.report.number_format import (
    allowance,
    fitted,
    fitted_end,
    portion,
    written_size,
)

HOSTILE = st.text(alphabet=st.sampled_from("a<&'\"\u200b\x1b\u20ac\U0001f600\n"))


@given(HOSTILE, st.integers(min_value=30, max_value=300))
def test_a_fitted_text_takes_no_more_than_its_room_however_it_is_escaped(text, room):
    assert written_size(fitted(text * 20, room)) <= room
    assert written_size(fitted_end(text * 20, room)) <= max(room, 80)


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
    one, many, flood = allowance(1), allowance(416), allowance(100_000)
    assert one.steps > 20 * many.steps
    assert many.steps > 2 * flood.steps > 0


def test_a_portion_shows_what_has_room_and_no_more():
    whole = portion(10_000, 5, frame=100, least=50, most=800)
    assert (whole.items, whole.each) == (5, 800)
    part = portion(1_000, 50, frame=100, least=100, most=800)
    assert (part.items, part.each) == (5, 100)
    assert part.of(0.5) == 50
    assert portion(10, 5, frame=100, least=50, most=800).items == 0
    assert portion(1_000, 0, frame=100, least=50, most=800).items == 0
