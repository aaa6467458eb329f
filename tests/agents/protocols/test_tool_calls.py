"""Tool calls, made and written."""

import re

import pytest
from inspect_ai.model import GenerateConfig, ModelOutput

from mlagentbench.agents.protocols.reply_protocol import ActionRequest
from mlagentbench.agents.protocols.tool_calls import ToolProtocol

TOOLS = ToolProtocol()
READ = ("read_file", {"file_name": "a.py"})


@pytest.fixture
def parse(reply_format, reply):
    return lambda *args, **how: TOOLS.parse(reply(*args, **how), reply_format)


def test_one_call_is_a_move_and_the_text_beside_it_is_said(parse):
    said = {"Research Plan and Status": "I look first."}
    request = ActionRequest(
        action="Read File", input={"file_name": "a.py"}, fields=said
    )
    assert parse("I look first.", [READ]) == request
    assert parse("Thought: hm", [READ]).fields == {"Thought": "hm"}
    assert parse("", [READ], stop="max_tokens").input == {"file_name": "a.py"}


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
def test_a_call_written_as_text_is_taken_for_one(written, parse):
    request = parse(written)
    assert (request.action, request.input) == ("Read File", {"file_name": "a.py"})
    assert "tool_call" not in str(request.fields)


def test_none_several_unknown_and_broken_calls_are_complained_about(parse):
    assert "calls no tool" in parse("I would look.").why
    assert "calls 2 tools" in parse("", [READ, READ]).why
    written = '{"name": "read_file", "arguments": {"file_name": "a.py"}}'
    assert "calls 2 tools" in parse(f"{written}\n{written}").why
    assert "no action" in parse("", [("dance", {})]).why
    broken = parse("", [("read_file", {})], parse_error="bad JSON")
    assert "not valid JSON" in broken.why
    assert broken.request.action == "Read File"
    assert "takes {" in parse("", [("read_file", {"path": "a.py"})]).why
    assert "cut off" in parse("I wou", stop="max_tokens").why


def test_what_was_written_inside_a_broken_call_is_not_taken_for_one(parse):
    inner = '{"name": "final_answer", "arguments": {"final_answer": "x"}}'
    cut = f'{{"name": "write_file", "arguments": {{"content": {inner}'
    assert "calls no tool" in parse(cut).why


def test_every_call_is_answered_and_can_be_sent_on(reply):
    odd = ("no such\ud800 tool", {"a\ud800": [float("nan")], "b": "x\x00"})
    said, *answers = TOOLS.exchange(reply("", [READ, odd]), "seen")
    assert [answer.tool_call_id for answer in answers] == ["call-0", "call-1"]
    assert {answer.text for answer in answers} == {"seen"}
    assert re.fullmatch("[a-zA-Z0-9_-]+", said.tool_calls[1].function)
    assert said.tool_calls[1].arguments == {"a\ufffd": "", "b": "x"}
    assert TOOLS.exchange(reply("Hm."), "seen")[1].role == "user"


def test_no_choice_at_all_is_complained_about_and_answered(reply_format):
    assert "calls no tool" in TOOLS.parse(ModelOutput(), reply_format).why
    assert TOOLS.exchange(ModelOutput(), "seen")[0].text


def test_there_is_one_tool_per_action_told(reply_format):
    tools = TOOLS.tools(reply_format)
    assert [tool.name for tool in tools][:2] == ["read_file", "write_file"]
    assert len(tools) == len(reply_format.actions)
    assert tools[1].parameters.required == ["file_name", "content"]
    assert TOOLS.config(reply_format, GenerateConfig()).parallel_tool_calls is False
    assert "Thought: ..." in TOOLS.explanation(reply_format)
