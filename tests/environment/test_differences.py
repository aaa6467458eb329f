"""What an edit changed, told as a unified diff."""

import difflib
import random
import time

from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.text import difference

TEXTS = st.lists(st.sampled_from("abc"), max_size=40).map("\n".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
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


def test_a_small_change_is_told_as_difflib_tells_it():
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

    began = time.monotonic()
    difference(hostile(1_490), hostile(1_490), "a", "b")
    assert "too many to show" in difference(
        hostile(100_000), hostile(100_000), "a", "b"
    )
    assert time.monotonic() - began < 20
