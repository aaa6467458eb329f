"""Readers of files and texts that anybody may have written, on mutated and random ones.

`make fuzz` runs each of them for some minutes and keeps its inputs (`tools/fuzz.py`).
So no test here uses a fixture.
"""

import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.quick_task import QUICK_TASK
from tests.support.records import card, end, experiment_spec, model_call, step

from mlagentbench.agents.protocols.json_reader import ReadingError, first_object
from mlagentbench.core.errors import BenchError
from mlagentbench.core.trace import Called
from mlagentbench.core.units import Units, dump_units, parse_units
from mlagentbench.environment.paths import workspace_path, writable_path
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import parse_scorecards
from mlagentbench.experiment.trace_file import parse_trace
from mlagentbench.tasks.load import load_folder, load_task
from mlagentbench.tasks.suite_arrays import read_arrays
from mlagentbench.tasks.suite_common import read_numbers

HUGE = b"1e308", b"-1e999", b"NaN", b"9" * 400, b"[" * 2000, b"\xff", b"\0", b"\\ud800"
CALL = Called(run="r", call=model_call())
TRACE = b"".join(
    one.model_dump_json().encode() + b"\n" for one in (CALL, step(), step(2), end())
)
CARDS = card().model_dump_json().encode() + b"\n"
SPEC = experiment_spec(load_task("house-price")).model_dump_json(indent=1).encode()
UNITS = dump_units({"run": Units(values=((1.0,), (2.0,)), clusters=(0, 1))})
TASK = (QUICK_TASK / "task.toml").read_bytes()


@st.composite
def mutated(draw, valid: bytes) -> bytes:
    """Replace, repeat and remove parts of a valid file."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 40)))
        part = st.sampled_from((b"", *HUGE)) | st.binary(max_size=12)
        data[start:stop] = draw(part) + draw(st.sampled_from((b"", data[start:stop])))
    return bytes(data)


def files(valid: bytes) -> st.SearchStrategy[bytes]:
    return mutated(valid) | st.binary(max_size=400)


@given(files(TRACE))
def test_any_trace_is_read_or_refused(content):
    with suppress(BenchError):
        parse_trace(content, Path("trace"), "r")


@given(files(CARDS))
def test_any_scorecards_are_read_with_warnings(content):
    cards, warnings = parse_scorecards(content, "scorecards.jsonl")
    json.dumps([one.model_dump(mode="json") for one in cards])
    assert all(line.isprintable() for line in warnings)


@cache
def scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mlab-fuzz-")


def written(name: str, content: bytes) -> Path:
    path = Path(scratch().name, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@given(files(SPEC))
def test_any_experiment_json_is_read_or_refused(content):
    path = written("experiment/experiment.json", content)
    with suppress(BenchError):
        Experiment(path.parent).runs()


CSV = b"Id,price\n1,2.5\n2,1e3\n3,-4\n"
ARRAY = np.arange(6, dtype=np.float64).reshape(2, 3)
ARRAYS = b"<f8 2,3\n" + ARRAY.tobytes()


@given(files(CSV))
@example(CSV)
def test_any_csv_is_read_or_refused(content):
    with suppress(BenchError):
        rows = read_numbers(written("a.csv", content), ("1", "2", "3"), ["price"])
        assert all(np.isfinite(row).all() for row in rows.values())


@given(files(ARRAYS))
@example(ARRAYS)
def test_any_arrays_are_read_or_refused(content):
    with suppress(BenchError):
        (found,) = read_arrays(written("a.arrays", content), [ARRAY])
        assert (found.dtype, found.shape) == (ARRAY.dtype, ARRAY.shape)


@given(files(UNITS))
@example(UNITS)
def test_any_array_file_is_read_or_ignored(content):
    assert all(isinstance(one, Units) for one in parse_units(content).values())


@given(files(TASK))
@example(TASK)
@example(b"id = " + b"[" * 2000)
def test_any_task_toml_is_read_or_refused(content):
    folder = written("task/task.toml", content).parent
    for path in QUICK_TASK.iterdir():
        link = folder / path.name
        if not link.exists() and not path.name.startswith("__"):
            link.symlink_to(path)
    with suppress(BenchError):
        load_folder(folder, "mini")


@given(st.text(max_size=200) | st.text("./\\\0 ~dataevlupy", max_size=40))
def test_any_path_stays_in_the_workspace_or_is_refused(name):
    for rule in (workspace_path, writable_path):
        try:
            path = rule(name)
        except BenchError:
            continue
        assert not path.is_absolute()
        assert ".." not in path.parts


@given(mutated(b'{"action": "Execute Script", "input": {"a": [1, 2, {"b": "c"}]}}'))
def test_any_json_reply_is_read_or_refused(content):
    with suppress(ReadingError):
        first_object(content.decode(errors="replace"))
