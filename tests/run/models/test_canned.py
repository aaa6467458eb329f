"""A model that says what is written down."""

import asyncio

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, get_model

from mlagentbench.core.errors import UsageError
from mlagentbench.run.models.canned import ScriptedModel

REPLIES = """
- first
- text: second
  usage: {input: 5, output: 3, cached: 2}
  tool_calls:
    - name: read_file
      arguments: {file_name: train.py}
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "replies.yaml"
    path.write_text(REPLIES)
    return get_model(f"scripted/{path}")


def ask(model, *texts):
    messages = [
        ChatMessageAssistant(content=text)
        if number % 2
        else ChatMessageUser(content=text)
        for number, text in enumerate(texts)
    ]
    return asyncio.run(model.generate(messages))


def test_reply_depends_only_on_the_number_of_turns(model):
    assert ask(model, "hello").completion == "first"
    assert ask(model, "hello", "first", "more").completion == "second"
    assert ask(model, "hello").completion == "first"


def test_usage_and_tool_calls_come_from_the_script(model):
    output = ask(model, "hello", "first", "more")
    assert output.usage.input_tokens == 5
    assert output.usage.input_tokens_cache_read == 2
    (call,) = output.message.tool_calls
    assert call.function == "read_file"
    assert call.arguments == {"file_name": "train.py"}


def test_missing_script_is_refused():
    with pytest.raises(UsageError, match="does not exist"):
        ScriptedModel("nowhere.yaml")
    with pytest.raises(UsageError, match="YAML file of replies or module:function"):
        ScriptedModel("nonsense")
