"""Fields of text, as models really write them."""

import time

import pytest
from inspect_ai.model import GenerateConfig

from mlagentbench.agents.protocols.reply_protocol import ActionRequest, Malformed
from mlagentbench.agents.protocols.text_fields import TextProtocol

TEXT = TextProtocol()


@pytest.fixture
def parse(reply_format, reply):
    return lambda text, **how: TEXT.parse(reply(text, **how), reply_format)


@pytest.mark.parametrize(
    "written",
    [
        'Action: Read File\nAction Input: {"file_name": "a.py"}',
        '**Action:** Read File\n**Action Input:** {"file_name": "a.py"}',
        '### Action\nread_file\n### Action Input\n```json\n{"file_name": "a.py"}\n```',
        "ACTION: `Read File`\naction input: {'file_name': 'a.py',}",
        'Action: "Read File"\nAction Input: {"file_name": "a.py"',
        'Action: Read File {"file_name": "a.py"}',
        'Action: Read File\nAction Input: {"file_name": "a.py"}\n'
        "Observation: 1\nAction: x",
    ],
)
def test_one_action_is_understood_however_it_is_decorated(written, parse):
    assert parse(written) == ActionRequest(
        action="Read File", input={"file_name": "a.py"}
    )


@pytest.mark.parametrize(
    ("given", "content"),
    [
        ('{"file_name": "a", "content": "x = 1\ny = 2"}', "x = 1\ny = 2"),
        ('{"file_name": "a", "content": "print("hi")"}', 'print("hi")'),
        ('{"file_name": "a", "content": """print("a\\n")\n"""}', 'print("a\\n")\n'),
        ('{"file_name": "a", "content": 3}', "3"),
        ('{"file_name": "a", "content": true}', "true"),
        ('{"file_name": "a", "content": {"b": [1, "é"]}}', '{"b": [1, "é"]}'),
        ('{"content": "a\\tb", "file_name": "a"}', "a\tb"),
        ('{"file_name": "a", "content": "\\d+ \\ud83d\\ude00"}', "\\d+ \U0001f600"),
    ],
)
def test_an_input_is_read_as_well_as_it_can_be(given, content, parse):
    request = parse(f"Action: Write File\nAction Input: {given}")
    assert request == ActionRequest(
        action="Write File", input={"file_name": "a", "content": content}
    )


@pytest.mark.parametrize(
    "given",
    [
        '{"file_name": "a"}',
        '{"file_name": "a", "content": "b", "mode": "w"}',
        '{"file_name": "a", "file_name": "b", "content": "c"}',
        '{"file_name": "a", "content": null}',
        '{"file_name": "a", "content": NaN}',
        '{"file_name": "a", "content": 1e999}',
        f'{{"file_name": "a", "content": {"9" * 5000}}}',
        f'{{"file_name": "a", "content": {"[" * 5000}{"]" * 5000}}}',
        '{"file_name": "a", "content": "x = {"b": "c", "mode": "w"}"}',
        '{"file_name": "a", "content": "cut off he',
        "a.py",
        "",
    ],
)
def test_an_unusable_input_keeps_the_action_and_shows_its_usage(given, parse):
    malformed = parse(f"Thought: go\nAction: Write File\nAction Input: {given}")
    assert isinstance(malformed, Malformed)
    assert 'Write File takes {"file_name"' in malformed.why
    assert malformed.request == ActionRequest(
        action="Write File", input={}, fields={"Thought": "go"}
    )


def test_two_actions_an_unknown_one_and_none_are_complained_about(parse):
    one = 'Action: Read File\nAction Input: {"file_name": "a"}\n'
    assert "2 actions" in parse(one + one).why
    unknown = parse("Action: Dance\nAction Input: {}").why
    assert '"Dance"' in unknown
    assert "Read File, Write File" in unknown
    assert "Append File" not in unknown
    assert "names no action" in parse("I would read the file.").why
    assert "empty" in parse(" \n").why


def test_a_reply_cut_off_by_the_limit_is_never_carried_out(parse):
    whole = 'Action: Read File\nAction Input: {"file_name": "a"}'
    malformed = parse(whole, stop="max_tokens")
    assert "cut off by the length limit" in malformed.why
    assert malformed.request.action == "Read File"


def test_hidden_actions_fields_and_actions_without_input_are_understood(parse):
    hidden = 'Action: append file\nAction Input: {"file_name": "a", "content": ""}'
    assert parse(hidden).action == "Append File"
    said = parse(
        "<think>Action: Dance</think>Let me see.\n"
        "Thought: one\ntwo\nAction: Check Submission"
    )
    assert said.input == {}
    assert said.fields == {
        "Research Plan and Status": "Let me see.",
        "Thought": "one\ntwo",
    }


def test_a_bullet_or_a_quoted_key_is_no_header(parse):
    request = parse(
        'Thought: plan\n- Action: later\n"Action": no\nAction: Check Submission'
    )
    assert request.fields == {"Thought": 'plan\n- Action: later\n"Action": no'}


@pytest.mark.parametrize(
    "piece", ["{", '"\\"', "Action Input:\n", '{"file_name"   ', "** ", "\\", '", "a":']
)
def test_reading_takes_time_in_proportion_to_the_length(piece, parse):
    started = time.process_time()
    parse("Action: Read File\nAction Input: {" + piece * (190_000 // len(piece)))
    assert time.process_time() - started < 2


def test_more_than_can_be_read_is_not_read(parse):
    assert "longer than" in parse("a" * 10_000_000).why


def test_a_model_is_stopped_before_it_invents_an_observation(reply_format, reply):
    config = TEXT.config(reply_format, GenerateConfig(stop_seqs=["END"]))
    assert config.stop_seqs == ["END", "Observation:"]
    reply_message, answer = TEXT.exchange(reply("Action: x\nObservation: 0.99"), "0.5")
    assert (reply_message.text, answer.text) == ("Action: x", "Observation:\n0.5")
    assert TEXT.exchange(reply(""), "0.5")[0].text


def test_the_explanation_names_every_field_and_every_action_told(reply_format):
    text = TEXT.explanation(reply_format)
    assert "Research Plan and Status: ...\nThought: ...\nAction: " in text
    assert all(action.name in text for action in reply_format.actions)
    assert "Append File" not in text
    assert "<<" not in text
