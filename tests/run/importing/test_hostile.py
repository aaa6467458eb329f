"""Whatever is planted in a log folder, the rest is imported and nothing is done."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.run.importing.builder import ANSWER, RUN_TRAIN, make_run, write_state

from mlagentbench.core.ending import Ending
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.importing import reading
from mlagentbench.run.importing.importer import import_original
from mlagentbench.run.tracefile import read_trace

SECRET = "the contents of a file outside"


@pytest.fixture
def logs(tmp_path) -> Path:
    make_run(tmp_path / "cifar10" / "good", [RUN_TRAIN, ANSWER])
    return tmp_path / "cifar10"


@pytest.fixture
def imported(logs, tmp_path):
    """Import and return the cards and warnings; the good run is always among them."""

    def call():
        said = import_original(logs, tmp_path / "out")
        cards, torn = Experiment(tmp_path / "out").scorecards()
        by_folder = dict(zip(said.runs.values(), cards, strict=True))
        assert torn == []
        assert by_folder["good"].steps == 2
        return by_folder, list(said.warnings)

    return call


def everything_written(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_text() for path in files)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"steps": 3}', '{"steps": ', "[" * 200_000, "\xff\x00",
     '{"steps": [' + "9" * 5_000 + "]}"],
)  # fmt: skip
def test_a_trace_that_cannot_be_read_is_a_broken_run_and_a_warning(
    logs, imported, text
):
    run = make_run(logs / "odd", [RUN_TRAIN])
    (run / "env_log" / "trace.json").write_bytes(text.encode("latin-1"))
    cards, warnings = imported()
    assert cards["odd"].ending is Ending.BROKEN
    assert "trace.json cannot be read" in cards["odd"].reason
    assert any("odd/env_log/trace.json" in said for said in warnings)


def test_values_nested_too_deeply_are_not_read(logs, imported):
    run = make_run(logs / "odd", [RUN_TRAIN])
    deep = '{"steps": ' + "[" * 300 + "]" * 300 + "}"
    (run / "env_log" / "trace.json").write_text(deep)
    cards, warnings = imported()
    assert cards["odd"].ending is Ending.BROKEN
    assert any("nested too deeply" in said for said in warnings)


def test_a_missing_trace_is_named(logs, imported):
    (logs / "odd" / "env_log").mkdir(parents=True)
    cards, warnings = imported()
    assert cards["odd"].ending is Ending.BROKEN
    assert "odd/env_log/trace.json: there is none" in warnings


def test_steps_that_are_none_are_left_out_and_named(logs, imported):
    run = make_run(logs / "odd", [RUN_TRAIN, RUN_TRAIN, ANSWER])
    path = run / "env_log" / "trace.json"
    trace = json.loads(path.read_text())
    trace["steps"][1] = {"action": "rm"}
    path.write_text(json.dumps(trace))
    cards, warnings = imported()
    assert cards["odd"].ending is Ending.SUBMITTED
    assert cards["odd"].actions == {"Execute Script": 1, "Final Answer": 1}
    assert warnings == ["odd/env_log/trace.json: step 2 is none and is left out"]


@pytest.mark.parametrize("name", ["env_log/trace.json", "env_log/error.txt",
                                  "env_log/overall_time.txt",
                                  "agent_log/agent_0_0.json"])  # fmt: skip
def test_a_link_to_a_file_outside_is_not_followed(logs, imported, tmp_path, name):
    outside = tmp_path / "outside.json"
    step = {"action": {"name": "Read File", "args": {}}, "observation": SECRET}
    entry = {"step_idx": 1, "action": {"Thought": SECRET}, "observation": SECRET}
    outside.write_text(json.dumps({"steps": [step], "history_steps": [entry]}))
    run = make_run(logs / "odd", [RUN_TRAIN], agent={})
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    _, warnings = imported()
    assert any(f"odd/{name}" in said for said in warnings)
    assert SECRET not in everything_written(tmp_path / "out")


@pytest.mark.parametrize("name", ["env_log", "agent_log", ""])
def test_a_link_to_a_folder_outside_is_not_followed(logs, imported, tmp_path, name):
    step = ("Read File", {}, SECRET)
    elsewhere = make_run(tmp_path / "elsewhere", [step], agent={"llm_name": SECRET})
    link = logs / "odd" / name
    if name == "agent_log":
        make_run(logs / "odd", [RUN_TRAIN])
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere / name)
    imported()
    assert SECRET not in everything_written(tmp_path / "out")


def test_a_pipe_in_place_of_a_file_does_not_hold_up(logs, imported):
    run = make_run(logs / "odd", [RUN_TRAIN])
    (run / "env_log" / "trace.json").unlink()
    os.mkfifo(run / "env_log" / "trace.json")
    _, warnings = imported()
    assert any("not a plain file" in said for said in warnings)


def test_a_run_within_a_runs_own_files_is_none(logs, imported):
    run = make_run(logs / "odd", [RUN_TRAIN])
    make_run(run / "env_log" / "traces" / "step_0_files" / "fake", [ANSWER])
    make_run(run / "fake", [ANSWER])
    assert set(imported()[0]) == {"good", "odd"}


def test_a_file_that_is_too_large_is_not_read(logs, imported, monkeypatch):
    run = make_run(logs / "odd", [RUN_TRAIN])
    with (run / "env_log" / "trace.json").open("r+b") as file:
        file.truncate(reading.LARGEST + 1)
    _, warnings = imported()
    assert any("larger than" in said for said in warnings)


def test_a_torn_state_of_the_agent_costs_only_what_it_alone_says(logs, imported):
    run = make_run(logs / "odd", [RUN_TRAIN, ANSWER], agent={"task": "imdb"})
    (run / "agent_log" / "agent_1_1.json").write_text('{"args": {"task"')
    (run / "agent_log" / "agent_x_1.json").write_text("no state at all")
    cards, warnings = imported()
    assert cards["odd"].task == "imdb"
    assert [said.split(":")[0] for said in warnings] == ["odd/agent_log/agent_1_1.json"]


@pytest.mark.parametrize("text", ["soon", "-5", "nan", "inf", "1e400", "9" * 2_000])
def test_a_total_that_is_no_number_of_seconds_is_a_warning(logs, imported, text):
    make_run(logs / "odd", [RUN_TRAIN, ANSWER], total=text)
    cards, warnings = imported()
    assert cards["odd"].ending is Ending.SUBMITTED
    assert any("odd/env_log/overall_time.txt" in said for said in warnings)


def test_names_with_control_characters_are_shown_plainly(logs, imported):
    make_run(logs / "a\nb\x1b[31m\u202e", [RUN_TRAIN], agent={"llm_name": "<b>\x1b:"})
    cards, _ = imported()
    (name,) = set(cards) - {"good"}
    assert name.isprintable()
    assert name.isascii()
    assert cards[name].model.partition("[")[0] == "_b___"


def test_a_name_that_is_no_text_is_imported(logs, imported):
    made = make_run(logs / "odd", [RUN_TRAIN])
    made.rename(logs / os.fsdecode(b"\xff\xfe"))
    assert "\\udcff\\udcfe" in imported()[0]


_LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_JSON = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "args", "action", "observation", "step_idx", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "action": _JSON,
        "observation": _JSON,
        "timestamp": _JSON,
        "step_idx": _JSON,
    },
)
_ENTRIES = st.lists(_ENTRY | _JSON, max_size=4)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_ENTRIES, history=_ENTRIES, asked=_JSON, result=_JSON)
def test_any_json_in_place_of_steps_states_and_results_is_survived(
    tmp_path_factory, steps: Any, history: Any, asked: Any, result: Any
):
    folder = tmp_path_factory.mktemp("any")
    run = make_run(folder / "cifar10" / "1", [])
    (run / "env_log" / "trace.json").write_text(json.dumps({"steps": steps}))
    (run / "agent_log").mkdir()
    write_state(run, 0, 0, history, asked if isinstance(asked, dict) else {})
    results = folder / "results.json"
    results.write_text(json.dumps({"cifar10/1/env_log/trace.json": result}))
    import_original(folder / "cifar10", folder / "out", [results])
    experiment = Experiment(folder / "out")
    (card,), torn = experiment.scorecards()
    assert torn == []
    (path,) = (folder / "out" / "trace").iterdir()
    assert read_trace(path, card.run).end is not None
