"""The paper's agents in the other protocols, and their settings."""

import json

import pytest
from fake_models.paper import ALL_FIELDS, CLASSIC, REPLIES

from mlagentbench.core.errors import UsageError


def test_with_tools_the_last_three_calls_are_shown(run_agent):
    call = {"name": "list_files", "arguments": {"dir_path": "."}}
    lines = [{"text": f"Thought: number {n}", "tool_calls": [call]} for n in range(5)]
    finished = run_agent("react", *lines, budget=5)
    assert finished.actions == ["List Files"] * 5
    assert finished.steps[4].fields == {"Thought": "number 4"}
    roles = [message.role for message in finished.prompts[4]]
    assert roles == ["user", *["assistant", "tool"] * 3]
    assert [m.text for m in finished.prompts[4][1::2]] == [
        f"Thought: number {n}" for n in (1, 2, 3)
    ]
    assert "exactly one of the tools" in finished.openings[0]


def test_with_a_schema_the_fields_are_keys(run_agent):
    reply = {"thought": "go **on**", "research_plan_and_status": "**all** new"}
    reply |= {"reflection": "", "fact_check": ""}
    reply |= {"action": "List Files", "input": {"dir_path": "."}}
    lines = [json.dumps(reply)] * 2
    finished = run_agent("research", *lines, **CLASSIC, protocol="schema", budget=2)
    assert '"research_plan_and_status": "..."' in finished.openings[0]
    assert list(finished.steps[0].fields) == ALL_FIELDS
    shown = json.loads(finished.prompts[1][1].text)
    assert shown["research_plan_and_status"] == "all new"
    assert shown["thought"] == "go **on**"


def test_invalid_settings_are_refused_before_a_model_is_asked(run_agent):
    with pytest.raises(UsageError, match="choose from: on, off"):
        run_agent("research", **CLASSIC, log="yes")
    assert REPLIES.prompts == []
