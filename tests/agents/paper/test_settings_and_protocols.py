"""What can be changed in the paper's agents: their language and their settings."""

import json

import pytest
from voices.classic_lines import ALL_FIELDS, CLASSIC
from voices.classic_stage import STAGE

from mlagentbench.core.errors import UsageError

# The same loop in other languages than the paper's.


def test_tools_are_offered_and_called_and_the_last_three_calls_are_shown(play):
    call = {"name": "list_files", "arguments": {"dir_path": "."}}
    lines = [{"text": f"Thought: number {n}", "tool_calls": [call]} for n in range(5)]
    played = play("react", *lines, budget=5)
    assert played.actions == ["List Files"] * 5
    assert played.steps[4].fields == {"Thought": "number 4"}
    roles = [message.role for message in played.asked[4]]
    assert roles == ["user", *["assistant", "tool"] * 3]
    assert [m.text for m in played.asked[4][1::2]] == [
        f"Thought: number {n}" for n in (1, 2, 3)
    ]
    assert "exactly one of the tools" in played.openings[0]


def test_in_json_the_fields_are_keys(play):
    reply = {"thought": "go **on**", "research_plan_and_status": "**all** new"}
    reply |= {"reflection": "", "fact_check": ""}
    reply |= {"action": "List Files", "input": {"dir_path": "."}}
    lines = [json.dumps(reply)] * 2
    played = play("research", *lines, **CLASSIC, protocol="schema", budget=2)
    assert '"research_plan_and_status": "..."' in played.openings[0]
    assert list(played.steps[0].fields) == ALL_FIELDS
    shown = json.loads(played.asked[1][1].text)
    assert shown["research_plan_and_status"] == "all new"
    assert shown["thought"] == "go **on**"


def test_invalid_settings_are_refused_before_a_model_is_asked(play):
    with pytest.raises(UsageError, match="choose from: on, off"):
        play("research", **CLASSIC, log="yes")
    assert STAGE.asked == []
