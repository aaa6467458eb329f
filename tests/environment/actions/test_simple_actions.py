"""Inspect Script Lines, Run Command, and the actions on the research log."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.actions import ACTIONS

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


pytestmark = pytest.mark.anyio


async def test_both_streams_are_shown(workspace):
    observation = await workspace.act("Run Command", command="echo out; echo err >&2")
    assert observation == "The command has been run.\nOutput:\nout\nErrors:\nerr"


async def test_it_is_bash_in_the_workspace(workspace):
    await workspace.put("a.txt", "hello")
    observation = await workspace.act(
        "Run Command", command="shopt -s globstar && cat **/a.txt"
    )
    assert observation.endswith("Output:\nhello")


async def test_a_failure_is_told_with_all_that_was_printed(workspace):
    with pytest.raises(ActionError, match=r"exit code 3\.\nOutput:\nhalf"):
        await workspace.act("Run Command", command="echo half; exit 3")


@pytest.mark.parametrize("command", ["echo \0", "x" * 3_000_000, "echo \ud800"])
async def test_a_command_that_cannot_be_started_is_the_agents_mistake(
    workspace, command
):
    with pytest.raises(ActionError, match="The command failed"):
        await workspace.act("Run Command", command=command)


async def test_nothing_is_left_running(workspace):
    await workspace.act("Run Command", command="(sleep 1; touch late) & exit 0")
    await workspace.act("Run Command", command="sleep 1.5")
    assert not await workspace.has("late")


def test_progress_is_measured_after_it():
    assert ACTIONS["Run Command"].executes


async def note(workspace, content):
    return await workspace.act("Append Summary to Research Log", content=content)


async def test_entries_stand_below_each_other(workspace):
    assert "research_log.log" in await note(workspace, "tried a tree")
    await note(workspace, "it overfits\n\n")
    assert await workspace.read("research_log.log") == "tried a tree\nit overfits\n"


async def test_what_the_log_says_about_a_plan_is_retrieved(workspace, model):
    await note(workspace, "a tree scored 0.7 ```")
    model.replies = ["The tree scored 0.7."]
    observation = await workspace.act(
        "Retrieval from Research Log", current_plan="try forests"
    )
    assert observation == "The tree scored 0.7."
    (asked,) = model.asked
    assert "````text\na tree scored 0.7 ```\n````" in asked
    assert "try forests" in asked
    assert model.roles == ["helper"]


@pytest.mark.parametrize("blank", [None, "", " \n"])
async def test_an_empty_log_says_so_and_asks_nobody(workspace, model, blank):
    if blank is not None:
        await workspace.put("research_log.log", blank)
    observation = await workspace.act(
        "Retrieval from Research Log", current_plan="try forests"
    )
    assert observation.startswith("The research log is empty")
    assert model.asked == []


async def test_of_a_huge_log_both_ends_are_read(workspace, model):
    await workspace.put("research_log.log", f"begin {'x' * 1_000_000} end")
    model.replies = ["long"]
    await workspace.act("Retrieval from Research Log", current_plan="read")
    assert len(model.asked[0]) < 45_000
    assert "begin xx" in model.asked[0]
    assert "xx end" in model.asked[0]


async def test_a_reflection_knows_the_problem_and_the_log(workspace, model):
    model.replies = ["Begin with a baseline.", "Try a forest."]
    reflect = {"things_to_reflect_on": "what next?"}
    assert await workspace.act("Reflection", **reflect) == "Begin with a baseline."
    assert "(nothing yet)" in model.asked[0]
    await note(workspace, "a tree scored 0.7")
    assert await workspace.act("Reflection", **reflect) == "Try a forest."
    asked = model.asked[1]
    assert "````text\nPredict the price of ```houses```.\n````" in asked
    assert "a tree scored 0.7" in asked
    assert "what next?" in asked
    assert model.roles == ["helper", "helper"]
