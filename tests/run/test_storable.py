"""Whatever a model says can be written down."""

import json

from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
from inspect_ai.tool import ToolCall

from mlagentbench.core.text import encodable
from mlagentbench.core.trace import Called, ModelCall
from mlagentbench.run.model_calls import reply_as_json

_ANY_TEXT = st.text(st.characters(exclude_categories=()))


def reply(text, arguments=None):
    calls = [ToolCall(id="1", function="f", arguments=arguments or {})]
    message = ChatMessageAssistant(content=text, tool_calls=calls)
    return ModelOutput(choices=[ChatCompletionChoice(message=message)])


def written(output):
    call = ModelCall(
        role="main", model="m", request_sha="", reply=reply_as_json(output)
    )
    return json.loads(Called(run="r", call=call).model_dump_json())


@given(_ANY_TEXT, st.dictionaries(_ANY_TEXT, _ANY_TEXT, max_size=3))
def test_any_text_can_be_written_and_read_back(text, arguments):
    line = written(reply(text, arguments))
    ModelOutput.model_validate(line["call"]["reply"])


def test_half_characters_are_replaced_and_nothing_else():
    assert encodable({"a": "x\ud800y\n\u00e9"}) == {"a": "x?y\n\u00e9"}


def test_arguments_that_are_nested_too_deeply_are_a_parse_error():
    deep = {}
    for _ in range(2_000):
        deep = {"a": deep}
    (call,) = written(reply("", deep))["call"]["reply"]["choices"][0]["message"][
        "tool_calls"
    ]
    assert call["arguments"] == {}
    assert "nested too deeply" in call["parse_error"]
