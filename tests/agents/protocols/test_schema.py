"""JSON after a schema."""

import pytest
from inspect_ai.model import GenerateConfig

from mlagentbench.agents.protocols.json_schema import SchemaLanguage
from mlagentbench.agents.protocols.protocol import ActionRequest

SCHEMA = SchemaLanguage()


@pytest.fixture
def understand(form, reply):
    return lambda text, **how: SCHEMA.understand(reply(text, **how), form)


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
def test_a_whole_object_is_understood(written, stop, understand):
    move = ActionRequest(
        action="Read File", given={"file_name": "a.py"}, said={"Thought": "hm"}
    )
    assert understand(written, stop=stop) == move


def test_an_object_without_its_last_brace_may_have_been_cut_off(understand):
    cut = '{"action": "Read File", "input": {"file_name": "a.py"}'
    assert "could not be used" in understand(cut).why
    assert "cut off" in understand(cut, stop="max_tokens").why


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
def test_anything_else_is_complained_about(written, why, understand):
    assert why in understand(written[:200_000]).why


def test_the_schema_allows_exactly_the_fields_actions_and_inputs(form):
    asked = SCHEMA.config(form, GenerateConfig()).response_schema.json_schema
    assert list(asked.properties) == [
        "research_plan_and_status",
        "thought",
        "action",
        "input",
    ]
    assert asked.properties["action"].enum == [action.name for action in form.actions]
    shapes = [list(shape.properties) for shape in asked.properties["input"].anyOf]
    assert ["file_name", "content"] in shapes
    assert [] in shapes
    assert all(shape.required == list(shape.properties) for shape in [asked])
    assert asked.additionalProperties is False


def test_the_explanation_shows_the_shape_and_the_conversation_goes_on(form, reply):
    text = SCHEMA.explanation(form)
    assert '"research_plan_and_status": "..."' in text
    assert "<<" not in text
    said, heard = SCHEMA.exchange(reply("{}\ud800"), "seen")
    assert (said.text, heard.text) == ("{}\ufffd", "seen")
