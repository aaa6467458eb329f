"""JSON after a schema."""

import pytest
from inspect_ai.model import GenerateConfig

from mlagentbench.agents.protocols.json_schema import SchemaProtocol
from mlagentbench.agents.protocols.reply_protocol import ActionRequest

SCHEMA = SchemaProtocol()


@pytest.fixture
def parse(reply_format, reply):
    return lambda text, **how: SCHEMA.parse(reply(text, **how), reply_format)


@pytest.mark.parametrize(
    "written",
    [
        '{"thought": "hm", "action": "Read File", "input": {"file_name": "a.py"}}',
        '```json\n{"thought": "hm", "action": "read_file",'
        ' "input": {"file_name": "a.py"}}\n```',
        "See {x}: {'Thought': 'hm', 'Action': 'Read File', 'Action Input':"
        " {'file_name': 'a.py'},} So.",
        '{"thought": "hm", "action": "Read File",'
        ' "input": "{\\"file_name\\": \\"a.py\\"}"}',
    ],
)
@pytest.mark.parametrize("stop", ["stop", "max_tokens"])
def test_a_whole_object_is_understood(written, stop, parse):
    request = ActionRequest(
        action="Read File", input={"file_name": "a.py"}, fields={"Thought": "hm"}
    )
    assert parse(written, stop=stop) == request


def test_an_object_without_its_last_brace_may_have_been_cut_off(parse):
    cut = '{"action": "Read File", "input": {"file_name": "a.py"}'
    assert "could not be used" in parse(cut).why
    assert "cut off" in parse(cut, stop="max_tokens").why


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("", "it is empty"),
        ("I would look.", "no JSON object"),
        ('{"input": {}}', "names no action"),
        ('{"action": ["Read File"], "input": {}}', "names no action"),
        ('{"action": "Dance", "input": {}}', "no action"),
        ('{"action": "Read File"}', "must stand in the reply once"),
        ('{"action": "Read File", "input": {}, "arguments": {}}', "once"),
        ('{"action": "Read File", "Action": "Dance", "input": {}}', "twice"),
        ('{"action": "Read File", "input": ["a.py"]}', "not a JSON object"),
        ('{"action": "Read File", "input": {"path": "a.py"}}', "keys"),
        ('{"a":' * 100_000, "too deeply"),
    ],
)
def test_anything_else_is_complained_about(written, why, parse):
    assert why in parse(written[:200_000]).why


def test_the_schema_allows_exactly_the_fields_actions_and_inputs(reply_format):
    asked = SCHEMA.config(reply_format, GenerateConfig()).response_schema.json_schema
    assert list(asked.properties) == [
        "research_plan_and_status",
        "thought",
        "action",
        "input",
    ]
    assert asked.properties["action"].enum == [
        action.name for action in reply_format.actions
    ]
    shapes = [list(shape.properties) for shape in asked.properties["input"].anyOf]
    assert ["file_name", "content"] in shapes
    assert [] in shapes
    assert all(shape.required == list(shape.properties) for shape in [asked])
    assert asked.additionalProperties is False


def test_the_explanation_shows_the_shape_and_the_conversation_goes_on(
    reply_format, reply
):
    text = SCHEMA.explanation(reply_format)
    assert '"research_plan_and_status": "..."' in text
    assert "<<" not in text
    reply_message, answer = SCHEMA.exchange(reply("{}\ud800"), "seen")
    assert (reply_message.text, answer.text) == ("{}\ufffd", "seen")
