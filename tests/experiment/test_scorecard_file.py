"""Scorecards are read back whatever happened to their file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import records

from mlagentbench.core.scorecard import Finding, ProcessCheck, Scorecard
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import (
    last_attempt_of,
    last_attempts,
    parse_scorecards,
)


def card(seed=0, task="house-price", **changes):
    return records.card(task, seed, agent="tuner", **changes)


def document(**changes):
    return json.loads(card().model_dump_json()) | changes


@pytest.fixture
def read(tmp_path):
    """Write lines, some of them cards, and read them back."""

    def write_and_read(*lines):
        path = tmp_path / "scorecards.jsonl"
        raw = [
            line if isinstance(line, bytes)
            else json.dumps(line).encode() if isinstance(line, dict)
            else line.model_dump_json().encode()
            for line in lines
        ]  # fmt: skip
        path.write_bytes(b"\n".join(raw) + b"\n")
        experiment = Experiment(tmp_path)
        return experiment.scorecards, experiment.warnings

    return write_and_read


def test_valid_scorecards_are_read_back_without_warnings(read):
    process = {"loops": ProcessCheck(value=1, evidence=(Finding(steps=(1,), quote="q",
               why="w"),))}  # fmt: skip
    cards = [card(0, process=process, score_ci=(1.0, 2.0)), card(1, unpriced=("m",))]
    assert read(*cards) == (cards, [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"run": "torn', "line 2: the line: Invalid JSON"),
        (b"[" * 5000, "line 2: the line: Invalid JSON"),
        (b"\xff\xfe", "line 2: the line: Invalid JSON"),
        (b"[1, 2]", "line 2: the line: "),
        (document(seed="many"), "line 2: seed: Input should be a valid integer"),
        (document(mood=1, seed="x"), "line 2: seed: "),
        (document(ending="eaten"), "line 2: ending: "),
        ({"run": "x", "future": 1}, "line 2: task: Field required"),
    ],
)
def test_a_malformed_line_gives_a_warning_and_the_others_are_read(read, line, reason):
    cards, warnings = read(card(0), line, card(1))
    assert [one.seed for one in cards] == [0, 1]
    (warning,) = warnings
    assert warning.startswith(f"scorecards.jsonl, {reason}")


def test_a_field_of_a_later_version_is_left_out_with_a_warning(read):
    cards, warnings = read(document(mood="sunny"))
    assert cards == [card()]
    (warning,) = warnings
    assert "line 1: the field mood is not known to this version" in warning


def test_nested_fields_of_a_later_version_are_left_out_too(read):
    evidence = [{"steps": [1], "quote": "q", "why": "w", "weight": 2}]
    deep = document(
        sandbox={"provider": "bwrap", "limits": "", "colour": "red"},
        process={"loops": {"value": 1, "evidence": evidence}},
    )
    (found,), warnings = read(deep)
    assert found.process["loops"].evidence[0].quote == "q"
    assert ["sandbox.colour" in one for one in warnings].count(True) == 1
    assert ["process.loops.evidence.0.weight" in w for w in warnings].count(True) == 1


def test_a_field_of_a_later_version_in_many_lines_gives_one_warning(read):
    lines = [document(run=f"r{seed}", seed=seed, mood=1) for seed in range(40)]
    cards, warnings = read(*lines)
    assert len(cards) == 40
    (warning,) = warnings
    assert "line 1 and 39 more" in warning


def test_an_unknown_task_gives_a_warning_and_its_scorecard_is_kept(read):
    cards, warnings = read(card(0, task="cooking"), card(1, task="cooking"), card(2))
    assert len(cards) == 3
    assert warnings == [
        "scorecards.jsonl, line 1 and 1 more: there is no task cooking here"
    ]


def test_the_last_of_two_lines_of_a_run_counts(read):
    cards, warnings = read(card(0, score=1.0), card(1), card(0, score=2.0))
    assert {one.seed: one.score for one in cards} == {0: 2.0, 1: None}
    (warning,) = warnings
    assert "line 3: house-price:tuner:none:0 is there already" in warning


def test_two_attempts_of_a_run_are_not_duplicates(read):
    cards, warnings = read(card(0, ending="broken"), card(0, attempt=2))
    assert [one.attempt for one in cards] == [1, 2]
    assert warnings == []
    assert [one.attempt for one in last_attempts(cards)] == [2]
    assert last_attempt_of(cards) == {cards[0].run: 2}


def test_a_warning_has_no_control_characters(read):
    _, warnings = read(document(**{"x\x1b[31m" + "y" * 500: 1}))
    assert len(warnings[0]) < 250
    assert warnings[0].isprintable()


@pytest.mark.parametrize("content", [None, b'{"tasks": [', b"", b"[]"])
def test_scorecards_are_read_without_a_readable_experiment_json(
    read, tmp_path, content
):
    if content is not None:
        (tmp_path / "experiment.json").write_bytes(content)
    assert read(card(0)) == ([card(0)], [])


def test_missing_file_yields_no_scorecards(tmp_path):
    experiment = Experiment(tmp_path)
    assert (experiment.scorecards, experiment.warnings) == ([], [])


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    changes=st.dictionaries(
        st.sampled_from(sorted(Scorecard.model_fields)) | st.text(max_size=4),
        JSON,
        max_size=4,
    )
)
def test_any_line_is_read_or_gives_a_warning(changes):
    line = json.dumps(document(**changes)).encode()
    cards, warnings = parse_scorecards(line + b"\n", "scorecards.jsonl")
    assert len(cards) == 1 or len(warnings) == 1
