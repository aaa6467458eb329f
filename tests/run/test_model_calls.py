"""Recorded model calls: tokens, cost, replies of any content, and their replay."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall
from pydantic import ValidationError
from tests.support import records
from tests.support.records import model_call

from mlagentbench.core.errors import ModelReplyError, ProviderError, ReplayError
from mlagentbench.core.text import encodable
from mlagentbench.core.trace import Called, Trace
from mlagentbench.evaluation.cost import Price
from mlagentbench.experiment.trace_file import RecordedRun
from mlagentbench.run import model_calls
from mlagentbench.run.model_calls import (
    ModelRequest,
    call_model,
    reply_as_json,
    set_connection_gate,
)

QUESTION = ModelRequest("main", [ChatMessageUser(content="?")], (), GenerateConfig())
USAGE = ModelUsage(
    input_tokens=1000, output_tokens=200, total_tokens=4200,
    input_tokens_cache_read=2000, input_tokens_cache_write=1000, reasoning_tokens=150,
)  # fmt: skip


@pytest.fixture
def ask():
    def asking(usage, prices=None):
        output = ModelOutput.from_content("mockllm/model", "yes")
        output.usage = usage
        model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
        return asyncio.run(call_model(model, QUESTION, prices))

    return asking


def test_tokens_are_counted_by_kind(ask):
    assert ask(USAGE).usage == {
        "input": 1000, "output": 200, "cached": 2000, "cached_write": 1000,
        "reasoning": 150,
    }  # fmt: skip
    plain = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    assert ask(plain).usage == {"input": 5, "output": 3, "cached": 0}


def test_reply_is_priced_when_it_arrives(ask):
    prices = {"model": Price(input=1, output=10, cached_read=0.1, cached_write=2)}
    spent = (1000 * 1 + 200 * 10 + 2000 * 0.1 + 1000 * 2) / 1_000_000
    assert ask(USAGE, prices).cost == pytest.approx(spent)
    assert ask(USAGE).cost is None


class StatusError(Exception):
    """An error of a provider's client."""


def failure_of(error):
    def fail(*_):
        raise error

    model = get_model("mockllm/model", custom_outputs=fail, memoize=False)
    with pytest.raises(ProviderError) as raised:
        asyncio.run(call_model(model, QUESTION))
    return raised


def invalid(text):
    with pytest.raises(ValidationError) as raised:
        ModelOutput.model_validate_json(text)
    return raised.value


@pytest.mark.parametrize(
    "error",
    [
        IndexError("list index out of range"),
        invalid('{"choices": [{"message": 7}]}'),
        StatusError("Error code: 400 - {'error': {'code': 'tool_use_failed'}}"),
        StatusError("Error code: 400 - {'error': {'code': 'content_filter'}}"),
    ],
)
def test_an_error_that_the_models_reply_caused_is_told_from_an_outage(error):
    assert failure_of(error).type is ModelReplyError


@pytest.mark.parametrize(
    "error",
    [
        StatusError("Error code: 503 - overloaded"),
        StatusError("Error code: 401 - wrong key"),
        TimeoutError(),
        json.JSONDecodeError("Expecting value", "<html>", 0),
        TypeError("'NoneType' object is not subscriptable"),
    ],
)
def test_outages_and_bodies_that_are_not_json_are_the_providers_fault(error):
    assert failure_of(error).type is ProviderError


_ANY_TEXT = st.text(st.characters(exclude_categories=()))


def reply(text, arguments=None):
    calls = [ToolCall(id="1", function="f", arguments=arguments or {})]
    message = ChatMessageAssistant(content=text, tool_calls=calls)
    return ModelOutput(choices=[ChatCompletionChoice(message=message)])


def written(output):
    call = model_call(reply=reply_as_json(output))
    return json.loads(Called(run="r", call=call).model_dump_json())


@given(_ANY_TEXT, st.dictionaries(_ANY_TEXT, _ANY_TEXT, max_size=3))
def test_any_reply_text_can_be_written_and_read_back(text, arguments):
    line = written(reply(text, arguments))
    ModelOutput.model_validate(line["call"]["reply"])


def test_only_lone_surrogates_are_replaced():
    assert encodable({"a": "x\ud800y\n\u00e9"}) == {"a": "x?y\n\u00e9"}


def test_deeply_nested_tool_arguments_are_a_parse_error():
    deep = {}
    for _ in range(2_000):
        deep = {"a": deep}
    (call,) = written(reply("", deep))["call"]["reply"]["choices"][0]["message"][
        "tool_calls"
    ]
    assert call["arguments"] == {}
    assert "nested too deeply" in call["parse_error"]


def step(number, action="Read File", **given):
    calls = (call(f"sha-{number}"),)
    return records.step(number, action=action, input=given, calls=calls)


def call(sha):
    return records.model_call(request_sha=sha)


TRACE = Trace(run="r", steps=(step(1, file_name="a"), step(2)), calls=(call("late"),))


def test_recorded_run_answers_in_order_and_then_ends():
    past = RecordedRun(TRACE)
    assert past.call("main", "sha-1").request_sha == "sha-1"
    assert past.step("Read File", {"file_name": "a"}).step == 1
    assert past.call("main", "sha-2") is not None
    assert past.step("Read File", {}).step == 2
    assert past.call("main", "late") is not None
    assert past.step("Read File", {}) is None
    assert past.call("main", "new") is None


def test_different_action_or_request_is_not_deterministic():
    with pytest.raises(ReplayError, match="step 1 was Read File"):
        RecordedRun(TRACE).step("Write File", {"file_name": "a"})
    with pytest.raises(ReplayError, match="step 1"):
        RecordedRun(TRACE).step("Read File", {"file_name": "b"})
    with pytest.raises(ReplayError, match="asks its main model something else"):
        RecordedRun(TRACE).call("main", "other")


def test_request_digest_ignores_message_ids():
    def sha(text, temperature=0.5):
        config = GenerateConfig(temperature=temperature)
        return ModelRequest("main", [ChatMessageUser(content=text)], [], config).sha

    assert sha("hello") == sha("hello")
    assert sha("hello") != sha("goodbye")
    assert sha("hello") != sha("hello", temperature=0.6)


def test_replayed_action_does_not_repeat_its_model_calls():
    inside = call("inside").model_copy(update={"asked_by": "action"})
    edited = step(1, "Edit Script").model_copy(update={"calls": (call("a"), inside)})
    past = RecordedRun(Trace(run="r", steps=(edited, step(2))))
    assert past.call("main", "a") is not None
    assert past.step("Edit Script", {}).step == 1
    assert past.call("main", "sha-2") is not None


def test_fewer_or_more_model_calls_are_not_deterministic():
    with pytest.raises(ReplayError, match="asked its model more often"):
        RecordedRun(TRACE).step("Read File", {"file_name": "a"})
    past = RecordedRun(TRACE)
    past.call("main", "sha-1")
    with pytest.raises(ReplayError, match="something else"):
        past.call("main", "sha-2")


def test_interrupted_action_gets_its_recorded_replies():
    inside = call("inside").model_copy(update={"asked_by": "action"})
    past = RecordedRun(Trace(run="r", calls=(call("a"), inside)))
    assert past.call("main", "a") is not None
    assert past.step("Edit Script", {}) is None
    assert past.call("main", "inside") == inside
    assert past.call("main", "new") is None


def test_calls_wait_for_a_connection(monkeypatch):
    free = asyncio.Semaphore(2)
    open_calls, asked = [0], []

    @asynccontextmanager
    async def gate(model):
        asked.append(model)
        async with free:
            open_calls.append(open_calls[-1] + 1)
            yield
            open_calls.append(open_calls[-1] - 1)

    async def reply(*_):
        await asyncio.sleep(0.01)
        output = ModelOutput.from_content("mockllm/model", "yes")
        output.usage = USAGE
        return output

    async def call_all():
        model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
        await asyncio.gather(*(call_model(model, QUESTION) for _ in range(5)))

    monkeypatch.setattr(model_calls, "_gate", None)
    set_connection_gate(gate)
    asyncio.run(call_all())
    assert asked == ["mockllm/model"] * 5
    assert max(open_calls) == 2
