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


# Settings are checked before anything is asked.


@pytest.mark.parametrize(
    ("agent", "settings", "said"),
    [
        ("act", {"protocol": "morse"}, "choose from: text, tools, schema, auto"),
        ("act", {"log": "on"}, "no setting 'log'; it has: protocol, max_agent_steps"),
        ("react", {"max_agent_steps": "0"}, "give a number from 1"),
        ("react", {"max_agent_steps": "\u0665"}, "give a number from 1"),
        ("research", {"style": "baroque"}, "choose from: classic, modern"),
        ("research", CLASSIC | {"log": "yes"}, "choose from: on, off"),
        (
            "research",
            CLASSIC | {"fields": "plan,ideas"},
            "no field 'ideas'.*fact_check",
        ),
        ("research", CLASSIC | {"trials": "3"}, "no setting 'trials'; it has: style"),
    ],
)
def test_wrong_settings_are_refused_with_the_right_ones(play, agent, settings, said):
    with pytest.raises(UsageError, match=said):
        play(agent, **settings)
    assert STAGE.asked == []
