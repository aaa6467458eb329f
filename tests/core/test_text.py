"""Shortening, splitting and diffing of text."""

import difflib
import random
import time

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.text import (
    BLOCK_CHARACTERS,
    difference,
    shortened,
    split,
    truncate,
)


@given(st.text(), st.integers(2, 50))
def test_short_text_stays_and_long_text_keeps_head_and_tail(text, limit):
    short = shortened(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        half = limit // 2
        assert short.startswith(text[:half])
        assert short.endswith(text[-half:])
        assert f"{len(text) - 2 * half} characters left out" in short


@given(st.text(), st.integers(3, 50))
def test_truncated_text_has_at_most_the_limit_and_ends_in_dots(text, limit):
    short = truncate(text, limit)
    assert len(short) <= limit
    assert short == text if len(text) <= limit else short == text[: limit - 3] + "..."


TEXTS = st.lists(st.text(alphabet="ab\n\r\u2028", max_size=30)).map("".join)


@given(TEXTS, st.integers(2, 20))
def test_the_blocks_together_are_the_text(text, limit):
    blocks = split(text, limit)
    assert "".join(block.text for block in blocks) == text
    assert all(0 < len(block.text) < limit for block in blocks)


@given(TEXTS, st.integers(2, 20))
def test_every_block_stands_where_it_says(text, limit):
    lines = text.split("\n")
    for block in split(text, limit):
        assert text[block.first_character - 1 : block.last_character] == block.text
        before = text[: block.first_character - 1]
        assert block.first_line == before.count("\n") + 1
        within = block.text.removesuffix("\n").count("\n")
        assert block.last_line == block.first_line + within <= len(lines)


@given(TEXTS, st.integers(2, 20))
def test_a_line_is_cut_only_where_it_is_too_long(text, limit):
    for block in split(text, limit)[:-1]:
        if not block.text.endswith("\n"):
            line = text.split("\n")[block.last_line - 1]
            assert len(line) + 1 >= limit


def test_by_default_no_block_has_ten_thousand_characters():
    sizes = [len(block.text) for block in split("x" * 25_000)]
    assert sizes == [BLOCK_CHARACTERS - 1, BLOCK_CHARACTERS - 1, 5_002]


LINES = st.lists(st.sampled_from("abc"), max_size=40).map("\n".join)


@given(LINES, LINES, LINES, LINES)
def test_the_lines_a_diff_names_are_those_of_the_files(head, old, new, tail):
    before, after = f"{head}\n{old}\n{tail}\n", f"{head}\n{new}\n{tail}\n"
    diff = difference(before, after, "old", "new").split("\n")
    assert applied(diff, before.splitlines()) == after.splitlines()


def applied(diff, lines):
    """Apply a unified diff strictly by its line numbers."""
    result, at = [], 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            result += lines[at:begin]
            at = begin
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            result += [line[1:]] if line.startswith(" ") else []
            at += 1
    return result + lines[at:]


def test_a_small_change_is_shown_as_difflib_shows_it():
    old = [f"line {number}" for number in range(50)]
    new = [*old[:20], "other", *old[21:]]
    expected = difflib.unified_diff(old, new, "a", "b", lineterm="")
    assert difference("\n".join(old), "\n".join(new), "a", "b") == "\n".join(expected)


def test_the_same_text_has_no_difference():
    assert difference("a\nb", "a\nb\n", "a", "b") == ""


def test_a_small_change_of_a_huge_file_is_shown():
    old = "".join(f"{number}\n" for number in range(300_000))
    diff = difference(old, old.replace("\n150000\n", "\nx\n"), "a", "b")
    assert "@@ -149998,7 +149998,7 @@" in diff
    assert "-150000\n+x" in diff


def test_hostile_lines_are_compared_in_bounded_time():
    chance = random.Random(1)

    def hostile(count):
        return "".join(f"{chance.randrange(100)}\n" for _ in range(count))

    began = time.process_time()
    difference(hostile(1_490), hostile(1_490), "a", "b")
    assert "too many to show" in difference(
        hostile(100_000), hostile(100_000), "a", "b"
    )
    assert time.process_time() - began < 20
