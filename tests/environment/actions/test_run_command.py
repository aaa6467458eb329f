"""Run Command: a shell in the sandbox, whatever it is told."""

import pytest

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.actions import ACTIONS

pytestmark = pytest.mark.anyio


async def test_both_streams_are_shown(desk):
    told = await desk.act("Run Command", command="echo out; echo err >&2")
    assert told == "The command has been run.\nOutput:\nout\nErrors:\nerr"


async def test_it_is_bash_in_the_workspace(desk):
    await desk.put("a.txt", "hello")
    told = await desk.act("Run Command", command="shopt -s globstar && cat **/a.txt")
    assert told.endswith("Output:\nhello")


async def test_a_failure_is_told_with_all_that_was_printed(desk):
    with pytest.raises(ActionError, match=r"exit code 3\.\nOutput:\nhalf"):
        await desk.act("Run Command", command="echo half; exit 3")


@pytest.mark.parametrize("command", ["echo \0", "x" * 3_000_000, "echo \ud800"])
async def test_a_command_that_cannot_be_started_is_the_agents_mistake(desk, command):
    with pytest.raises(ActionError, match="The command failed"):
        await desk.act("Run Command", command=command)


async def test_nothing_is_left_running(desk):
    await desk.act("Run Command", command="(sleep 1; touch late) & exit 0")
    await desk.act("Run Command", command="sleep 1.5")
    assert not await desk.has("late")


def test_progress_is_measured_after_it():
    assert ACTIONS["Run Command"].executes
