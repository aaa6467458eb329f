"""Tool calls, made and written."""

import re

import pytest
from inspect_ai.model import GenerateConfig, ModelOutput

from mlagentbench.agents.protocols.protocol import ActionRequest
from mlagentbench.agents.protocols.tool_calls import ToolsLanguage

TOOLS = ToolsLanguage()
READ = ("read_file", {"file_name": "a.py"})


@pytest.fixture
def understand(form, reply):
    return lambda *args, **how: TOOLS.understand(reply(*args, **how), form)


def test_one_call_is_a_move_and_the_text_beside_it_is_said(understand):
    said = {"Research Plan and Status": "I look first."}
    move = ActionRequest(action="Read File", given={"file_name": "a.py"}, said=said)
    assert understand("I look first.", [READ]) == move
    assert understand("Thought: hm", [READ]).said == {"Thought": "hm"}
    assert understand("", [READ], stop="max_tokens").given == {"file_name": "a.py"}


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "read_file", "arguments": {"file_name": "a.py"}}',
        '<tool_call>\n{"name": "Read File", "arguments": {"file_name": "a.py"}}\n'
        "</tool_call>",
        'Look:\n```json\n{"name": "read_file",'
        ' "parameters": {"file_name": "a.py"}}\n```',
        '{"arguments": "{\\"file_name\\": \\"a.py\\"}", "name": "read_file"}',
    ],
)
def test_a_call_written_as_text_is_taken_for_one(written, understand):
    move = understand(written)
    assert (move.action, move.given) == ("Read File", {"file_name": "a.py"})
    assert "tool_call" not in str(move.said)


def test_none_several_unknown_and_broken_calls_are_complained_about(understand):
    assert "calls no tool" in understand("I would look.").why
    assert "calls 2 tools" in understand("", [READ, READ]).why
    written = '{"name": "read_file", "arguments": {"file_name": "a.py"}}'
    assert "calls 2 tools" in understand(f"{written}\n{written}").why
    assert "no action" in understand("", [("dance", {})]).why
    broken = understand("", [("read_file", {})], parse_error="bad JSON")
    assert "not valid JSON" in broken.why
    assert broken.move.action == "Read File"
    assert "takes {" in understand("", [("read_file", {"path": "a.py"})]).why
    assert "cut off" in understand("I wou", stop="max_tokens").why


def test_what_was_written_inside_a_broken_call_is_not_taken_for_one(understand):
    inner = '{"name": "final_answer", "arguments": {"final_answer": "x"}}'
    cut = f'{{"name": "write_file", "arguments": {{"content": {inner}'
    assert "calls no tool" in understand(cut).why


def test_every_call_is_answered_and_can_be_sent_on(reply):
    odd = ("no such\ud800 tool", {"a\ud800": [float("nan")], "b": "x\x00"})
    said, *answers = TOOLS.exchange(reply("", [READ, odd]), "seen")
    assert [answer.tool_call_id for answer in answers] == ["call-0", "call-1"]
    assert {answer.text for answer in answers} == {"seen"}
    assert re.fullmatch("[a-zA-Z0-9_-]+", said.tool_calls[1].function)
    assert said.tool_calls[1].arguments == {"a\ufffd": "", "b": "x"}
    assert TOOLS.exchange(reply("Hm."), "seen")[1].role == "user"


def test_no_choice_at_all_is_complained_about_and_answered(form):
    assert "calls no tool" in TOOLS.understand(ModelOutput(), form).why
    assert TOOLS.exchange(ModelOutput(), "seen")[0].text


def test_there_is_one_tool_per_action_told(form):
    tools = TOOLS.tools(form)
    assert [tool.name for tool in tools][:2] == ["read_file", "write_file"]
    assert len(tools) == len(form.actions)
    assert tools[1].parameters.required == ["file_name", "content"]
    assert TOOLS.config(form, GenerateConfig()).parallel_tool_calls is False
    assert "Thought: ..." in TOOLS.explanation(form)
