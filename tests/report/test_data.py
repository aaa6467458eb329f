from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.report.data import code_changes

LINES = st.lists(st.sampled_from("abcd")).map("\n".join)


def test_every_line_of_a_diff_carries_its_sign():
    (change,) = code_changes({"t.py": "a\nb\nc"}, {"t.py": "a\nx\ny\nc"})
    assert change.lines == ("@@ -1,3 +1,4 @@", " a", "-b", "+x", "+y", " c")
    assert (change.kind, change.added, change.removed) == ("changed", 2, 1)


def test_new_and_removed_files_are_told_apart():
    new, removed = "new", "removed"
    found = code_changes({"old.py": "a"}, {"new.py": "b"})
    assert [(one.name, one.kind) for one in found] == [
        ("old.py", removed),
        ("new.py", new),
    ]


def test_what_is_not_there_is_not_called_removed_where_only_a_part_is_known():
    assert code_changes({"old.py": "a"}, {}, whole=False) == ()


@given(LINES, LINES)
def test_a_diff_counts_the_lines_it_shows(before, after):
    found = code_changes({"t": before}, {"t": after})
    for change in found:
        assert change.added == sum(line.startswith("+") for line in change.lines)
        assert len(after.split("\n")) - len(before.split("\n")) == (
            change.added - change.removed
        ) or not (before and after)
    assert (before == after) <= (found == ())


def test_a_line_without_end_and_a_file_without_end_are_cut():
    (wide,) = code_changes({"t": "a"}, {"t": "x" * 10**6})
    assert max(map(len, wide.lines)) < 600
    (long,) = code_changes({}, {"t": "\n".join("x" * 400 for _ in range(1000))})
    assert sum(map(len, long.lines)) < 70_000
    assert long.lines[-1].endswith("more lines")
    assert long.added == 1000


def test_thousands_of_other_lines_are_not_compared_one_by_one():
    before = "\n".join(f"a{number}" for number in range(3000))
    (change,) = code_changes({"t": before}, {"t": before.replace("a", "b")})
    assert "3000 lines became others" in change.lines[0]
