"""What every action has in common."""

import asyncio
import re

import pytest

from mlagentbench.core.actions import ACTION_SPECS
from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.name)
def test_wrong_arguments_are_answered_with_the_usage(action):
    with pytest.raises(ActionError, match=re.escape(f"Usage: {action.name} takes")):
        asyncio.run(action.perform(None, {"nonsense": "1"}))


@pytest.mark.parametrize("value", [None, 3, ["x"], {"a": "b"}, b"bytes"])
def test_an_argument_that_is_no_text_is_answered_with_the_usage(value):
    with pytest.raises(ActionError, match="must be text"):
        asyncio.run(ACTIONS["Read File"].perform(None, {"file_name": value}))


def test_every_spec_is_implemented_and_names_its_own_parameters():
    assert list(ACTIONS) == list(ACTION_SPECS)
    for name, spec in ACTION_SPECS.items():
        assert ACTIONS[name] == Action(**vars(spec), do=ACTIONS[name].do)
        assert {spec.reads, spec.writes} - {None} <= set(spec.parameters)


def test_exactly_one_action_ends_the_run():
    assert [a.name for a in ACTIONS.values() if a.ends_run] == ["Final Answer"]


def test_every_action_is_a_tool_with_a_name_of_its_own():
    names = [action.tool_name for action in ACTIONS.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]{1,64}", name) for name in names)
    assert ACTIONS["Execute Script"].tool_name == "execute_script"
    assert ACTIONS["Edit Script (AI)"].tool_name == "edit_script_ai"
