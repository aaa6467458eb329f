"""A trace on disk, and its endings."""

import pytest
from tests.support.records import end, model_call, step

from mlagentbench.core.errors import RecordError
from mlagentbench.core.trace import Called, Ending, Resumed
from mlagentbench.experiment.trace_file import TraceWriter, read_trace

END = end()


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "trace" / "r.jsonl"
    first = step(1, "seen", action="Read File", input={"a": "b"})
    with TraceWriter(path) as trace:
        trace.append(first)
        trace.append(step(2, "line\nbreak\u2028 and \0"))
        trace.append(END)
    read = read_trace(path, "r")
    assert read.steps == (first, step(2, "line\nbreak\u2028 and \0"))
    assert read.end == END


def test_a_step_can_be_read_before_the_next_begins(tmp_path):
    path = tmp_path / "r.jsonl"
    with TraceWriter(path) as trace:
        trace.append(step(1))
        assert read_trace(path, "r").steps == (step(1),)


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
def test_a_truncated_last_line_is_dropped(tmp_path, kept):
    path = tmp_path / "r.jsonl"
    whole = step(1).model_dump_json().encode() + b"\n"
    path.write_bytes(whole + whole[:-1][:kept])
    assert read_trace(path, "r").steps == (step(1),)


def test_damage_in_another_line_is_an_error(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"kind": "step"\n' + END.model_dump_json().encode() + b"\n")
    with pytest.raises(RecordError, match=r"r\.jsonl, line 1"):
        read_trace(path, "r")


def test_appending_drops_a_truncated_line_and_nothing_else(tmp_path):
    path = tmp_path / "r.jsonl"
    with TraceWriter(path) as trace:
        trace.append(step(1))
    with path.open("ab") as file:
        file.write(b'{"kind": "step", "run"')
    with TraceWriter(path) as trace:
        trace.append(step(2))
    assert read_trace(path, "r").steps == (step(1), step(2))


def test_model_calls_are_written_before_their_step_and_never_lost(tmp_path):
    path = tmp_path / "r.jsonl"
    call = model_call(request_sha="s", reply={"a": 1})
    with TraceWriter(path) as trace:
        trace.append(Called(run="r", call=call))
        trace.append(step(1).model_copy(update={"calls": (call,)}))
        trace.append(Called(run="r", call=call))
    read = read_trace(path, "r")
    assert read.steps[0].calls == (call,)
    assert read.calls == (call,)
    assert path.read_text().count('"request_sha"') == 2


def test_an_ending_does_not_count_after_the_run_was_resumed(tmp_path):
    path = tmp_path / "r.jsonl"
    with TraceWriter(path) as trace:
        trace.append(step(1))
        trace.append(END)
        trace.append(Resumed(run="r", step=1, at=""))
    read = read_trace(path, "r")
    assert read.end is None
    assert read.resumed == 1


def test_only_what_is_not_the_agents_doing_is_left_out_of_averages():
    left_out = {ending for ending in Ending if not ending.counts}
    assert left_out == {Ending.PROVIDER_ERROR, Ending.INTERRUPTED, Ending.BROKEN}
