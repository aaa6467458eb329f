"""Inspect Script Lines: exactly the lines that were asked for."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlagentbench.core.errors import ActionError

TEXT = "".join(f"line {number}\n" for number in range(1, 151))


def inspect(workspace, start, end, name="a.py"):
    return asyncio.run(
        workspace.act(
            "Inspect Script Lines",
            script_name=name,
            start_line_number=str(start),
            end_line_number=str(end),
        )
    )


@pytest.fixture
def script(workspace):
    asyncio.run(workspace.put("a.py", TEXT))
    return workspace


def test_lines_are_counted_from_one_and_the_last_one_is_shown(script):
    observation = inspect(script, 2, 3)
    assert observation == "Lines 2 to 3 of the 150 lines of a.py:\nline 2\nline 3\n"


def test_a_hundred_lines_are_shown_and_one_more_is_refused(script):
    assert inspect(script, 1, 100).endswith("line 100\n")
    with pytest.raises(ActionError, match="101 lines; at most 100"):
        inspect(script, 1, 101)


def test_an_end_beyond_the_file_is_its_last_line(script):
    assert "Lines 149 to 150 of the 150" in inspect(script, 149, 200)


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        ("0", "3", "counted from 1"),
        ("3", "2", "comes before"),
        ("-1", "2", "whole numbers"),
        ("1.5", "2", "whole numbers"),
        ("one", "2", "whole numbers"),
        ("", "2", "whole numbers"),
        ("\u0661", "2", "whole numbers"),
        ("1" * 5_000, "2", "whole numbers"),
    ],
)
def test_odd_numbers_are_answered_with_the_usage(script, start, end, why):
    with pytest.raises(ActionError, match=f"{why}.*Usage: Inspect Script Lines takes"):
        inspect(script, start, end)


def test_a_start_beyond_the_file_tells_how_long_it_is(script):
    with pytest.raises(ActionError, match="has only 150 lines"):
        inspect(script, 151, 151)
    asyncio.run(script.put("a.py", ""))
    with pytest.raises(ActionError, match="has only 0 lines"):
        inspect(script, 1, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text(max_size=5).map(lambda t: t.replace("\n", ""))),
    start=st.integers(1, 12),
    count=st.integers(1, 12),
)
def test_any_file_is_shown_as_a_plain_slice_of_it(workspace, lines, start, count):
    lines = [re.sub(r"[\ud800-\udfff]", "?", line) for line in lines]
    asyncio.run(workspace.put("a.py", "".join(f"{line}\n" for line in lines)))
    end = start + count - 1
    if start > len(lines):
        with pytest.raises(ActionError, match=f"only {len(lines)} lines"):
            inspect(workspace, start, end)
        return
    lead, shown = inspect(workspace, start, end).split("\n", 1)
    assert shown == "".join(f"{line}\n" for line in lines[start - 1 : end])
    assert f"of the {len(lines)} lines" in lead
