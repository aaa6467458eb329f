"""Traces are hostile: no check raises on any, or takes long over it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.scorecard import ProcessCheck
from mlagentbench.core.trace import End, Ending, Measurement, Spent, Trace
from mlagentbench.evaluation.process.examine import CHECKS, examine
from mlagentbench.evaluation.process.failure import failure_mode

PIECES = [
    "accuracy of 0.87", "MAE fell from 29,265.6 to 21.5k", "26% better", "1e999", "-",
    "between 1 and 2", "I will write a.py", "let me run ", "(measured)", "../..",
    "/etc/passwd", "data/", "Traceback (most recent call last)", "ValueError: x 1",
    "sed -i x train.py", "open('data/x', 'w')", "\n", "; ", ", so ", "$", "\x00",
    "\ud7ff", "\u202e", "9" * 400,
    "wrong arguments.", "curl http://x", "0x1f", "~ 1.0.0", "3x", "..", "'", '"',
]  # fmt: skip
ACTIONS = [
    "Write File", "Read File", "Execute Script", "Run Command", "Python REPL",
    "Final Answer", "Restore Workspace", "Undo Edit Script", "Copy File",
    "Invalid Reply", "Append Summary to Research Log", "Reflection", "", "No Such",
]  # fmt: skip
KEYS = [
    "file_name", "script_name", "content", "command", "final_answer", "step_number",
    "reply", "save_name", "destination", "dir_path",
]  # fmt: skip

text = st.lists(st.sampled_from(PIECES) | st.text(max_size=9), max_size=6).map("".join)
value = text | st.none() | st.integers() | st.lists(st.text(max_size=3), max_size=2)
number = st.floats(allow_nan=True, allow_infinity=True)
moment = st.fixed_dictionaries(
    {
        "action": st.sampled_from(ACTIONS) | st.text(max_size=9),
        "given": st.dictionaries(st.sampled_from(KEYS), value, max_size=4),
        "seen": text,
        "said": st.dictionaries(st.sampled_from(["Plan", "Thought"]), text, max_size=2),
        "ok": st.booleans(),
        "error": st.sampled_from([None, "bad_reply", "pointless", "unknown_action"]),
        "score": st.none() | number,
        "snapshot": st.sampled_from([None, "a", "b"]),
        "note": st.none() | text,
        "spent": st.builds(Spent, steps=st.integers(0, 99), seconds=number),
    }
)
endings = st.none() | st.sampled_from(list(Ending))


@given(moments=st.lists(moment, max_size=9), ending=endings, score=st.none() | number)
def test_any_trace_is_examined_to_its_end(moments, ending, score, make_run, task_with):
    run = make_run()
    for one in moments:
        run.does(one.pop("action"), one.pop("given"), one.pop("seen"), **one)
    trace, task = run.trace(ending), task_with()
    process = examine(task, trace, score)
    assert set(process) == set(CHECKS)
    numbers = {step.step for step in trace.steps}
    for check in process.values():
        assert len(check.evidence) <= check.value
        assert all(set(finding.steps) <= numbers for finding in check.evidence)
        assert all(len(finding.quote) <= 200 for finding in check.evidence)
        assert ProcessCheck.model_validate_json(check.model_dump_json()) == check
    failed = failure_mode(trace, process, success=False)
    assert (failed is None) == (ending is None or not ending.counts)


LONG = [
    "9" * 40_000, "9," * 20_000, "9,999" * 20_000, "a_" * 20_000, "_" * 40_000,
    "accuracy of " * 8_000, "accuracy 0.5 to " * 6_000, " " * 40_000, ", " * 20_000,
    "../" * 13_000, "> data" * 16_000, "sed -i " * 14_000, "chmod " * 16_000,
    "open('data/" * 9_000, "cp a " * 20_000, "I will write " * 8_000, "." * 40_000,
    "a.py/" * 20_000, "\n" * 40_000, "Error" * 20_000, "XError\n" * 14_000,
    "/etc" * 10_000, "pip install" * 9_000, "1e9" * 13_000, "- " * 20_000,
]  # fmt: skip


@pytest.mark.parametrize("hostile", LONG, ids=lambda hostile: ascii(hostile[:12]))
def test_long_text_takes_no_long_time(hostile, run, task_with):
    run.does("Write File", {"file_name": "a.py", "content": hostile}, hostile)
    run.commands(hostile, hostile, ok=False).writes().commands(
        hostile, hostile, ok=False
    )
    run.reads(
        hostile, hostile, said={"Plan": hostile, "Thought": hostile}, note=hostile
    )
    run.answers(hostile)
    began = time.process_time()
    examine(task_with(), run.trace(), submission_error=hostile)
    assert time.process_time() - began < 5


def test_a_trace_without_steps_is_examined(task_with):
    end = End(run="", ending=Ending.STOPPED, spent=Spent(), seconds=0, at="")
    process = examine(task_with(), Trace(run="", end=end))
    assert {name for name, check in process.items() if check.value} == {"submission"}


def test_a_score_that_is_no_number_is_no_best(run, task_with):
    run.executes(score=float("nan")).executes("b.py", score=1.0).answers()
    assert run.steps[0].validation != Measurement(metric="mae", value=1.0)
    assert examine(task_with(), run.trace())["worse_than_best"].value == 0
