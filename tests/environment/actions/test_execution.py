"""Run Command: a shell in the sandbox, with any command line."""

import pytest

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.actions import ACTIONS

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
