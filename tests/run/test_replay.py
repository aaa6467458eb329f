"""Going through a recorded past."""

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig
from tests.support import records

from mlagentbench.core.errors import ReplayError
from mlagentbench.core.trace import Trace
from mlagentbench.experiment.trace_file import RecordedRun
from mlagentbench.run.model_calls import ModelRequest


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
