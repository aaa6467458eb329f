"""Experiments recorded at an earlier commit can be shown, resumed, scored, reported.

tests/data/recorded/README.md says how they were made. Only the command line and the
files on disk are used here, so that a move of modules does not touch this test.
"""

import csv
import json
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "recorded"
RESEARCH = ("research", "research-log", "research-forked")
FINISHED = ("starter", "tuner", *RESEARCH)
UNDISTURBED = {"tuner-killed": "tuner", "research-killed": "research"}
"""The finished experiment that was recorded with the same command as a killed one."""
RESCORED = (
    "run", "ending", "score", "starter", "improvement", "success", "significant",
    "gap_closed", "steps", "actions", "errors", "tokens", "cost_usd", "seconds",
)  # fmt: skip
"""Fields of a scorecard that `mlab score` computes again."""


@pytest.fixture
def mlab(mlab, monkeypatch):
    """Call `mlab`, which must succeed; return its standard output."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.syspath_prepend(DATA)

    def call(*words):
        finished = mlab(*words)
        assert finished.code == 0, finished.err
        return finished.out

    return call


def json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def cards(folder):
    return json_lines(folder / "scorecards.jsonl")


def traces(folder):
    return {path.name: json_lines(path) for path in (folder / "trace").iterdir()}


def only_trace(folder):
    (lines,) = traces(folder).values()
    return lines


def steps(lines):
    return [line for line in lines if line["kind"] == "step"]


def story(lines):
    """What was asked, done and observed, without times."""
    told = ("step", "fields", "action", "input", "observation", "validation")
    return [
        (line["call"]["role"], line["call"]["request_sha"])
        if line["kind"] == "call"
        else [line[name] for name in told]
        for line in lines
        if line["kind"] in {"call", "step"}
    ]


def contents(folder):
    """Every file but the locks, which any command may create."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {".lock", "lock"}
    }


@pytest.mark.parametrize("name", [*FINISHED, *UNDISTURBED])
def test_show_prints_every_step(name, mlab, recorded):
    folder = recorded(name)
    ending = "not finished" if name in UNDISTURBED else "submitted"
    for lines in traces(folder).values():
        shown = mlab("show", folder, lines[0]["run"])
        assert lines[0]["run"] in shown
        for step in steps(lines):
            assert f"\n{step['step']}\t{step['action']}\t" in shown
        assert f"ending: {ending}" in shown


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("starter", ["no changes to the starter code"]),
        ("tuner", ["-TREES = 4", "+TREES = "]),
        ("research", ["-TREES = 4", "+TREES = 80", "-MAX_DEPTH = 2", "+MAX_DEPTH = 4"]),
        ("research-forked", ["-TREES = 4", "+TREES = 80"]),
        ("tuner-killed", ["-TREES = 4", "+TREES = "]),
        ("research-killed", ["no changes to the starter code"]),
    ],
)
def test_show_diff_compares_with_the_starter(name, changes, mlab, recorded):
    shown = mlab("show", recorded(name), "--diff")
    for change in changes:
        assert change in shown


@pytest.mark.parametrize("name", [*RESEARCH, "research-killed"])
def test_show_prompt_reproduces_every_request(name, mlab, recorded):
    folder = recorded(name)
    lines = only_trace(folder)
    # The agent is replayed up to the step; a request with another digest is an error.
    (*_, last) = [step["step"] for step in steps(lines) if step["fields"]]
    shown = mlab("show", folder, "--prompt", last)
    assert "You are a researcher in machine learning." in shown
    assert "Predict `y` from `x`" in shown


def test_show_prompt_replays_an_agent_without_a_model(mlab, recorded):
    # It has no request to show, but its replay must repeat every recorded step.
    folder = recorded("tuner")
    last = len(steps(only_trace(folder)))
    shown = mlab("show", folder, "--prompt", last)
    assert f"step {last} made no model call; no step of this run did" in shown


@pytest.mark.parametrize("name", UNDISTURBED)
def test_resume_of_a_killed_run_ends_like_the_undisturbed_one(name, mlab, recorded):
    folder = recorded(name)
    before = only_trace(folder)
    mlab("resume", folder)
    after = only_trace(folder)
    undisturbed = DATA / UNDISTURBED[name]
    assert len(steps(before)) >= 3
    assert after[: len(before)] == before
    assert after[len(before)]["kind"] == "resumed"
    assert len(steps(after)) > len(steps(before))
    assert story(after) == story(only_trace(undisturbed))
    (card,), (expected,) = cards(folder), cards(undisturbed)
    assert (card["ending"], card["resumed"]) == ("submitted", 1)
    for field in ("score", "improvement", "success", "actions", "tokens"):
        assert card[field] == expected[field], field


@pytest.mark.parametrize("name", FINISHED)
def test_resume_of_a_finished_experiment_changes_nothing(name, mlab, recorded):
    folder = recorded(name)
    before = contents(folder)
    assert "nothing to resume" in mlab("resume", folder)
    assert contents(folder) == before


@pytest.mark.parametrize("name", FINISHED)
def test_score_gives_the_recorded_scorecard(name, mlab, recorded):
    folder = recorded(name)
    old = cards(folder)
    # The new scorecard must come from the submission and the trace alone.
    (folder / "scorecards.jsonl").unlink()
    mlab("score", folder)
    new = cards(folder)
    assert [{field: card[field] for field in RESCORED} for card in new] == [
        {field: card[field] for field in RESCORED} for card in old
    ]


@pytest.mark.parametrize("name", ["starter", "tuner", "research-forked"])
def test_score_steps_scores_what_each_step_left(name, mlab, recorded):
    folder = recorded(name)
    mlab("score", folder, "--steps")
    scored = sorted(json_lines(folder / "steps.jsonl"), key=lambda line: line["step"])
    for card in cards(folder):
        of_run = [line for line in scored if line["run"] == card["run"]]
        assert of_run[-1]["score"] == card["score"]
        found = [line["score"] for line in of_run if line["score"] is not None]
        assert card["best_step"]["score"] == min(found)


@pytest.mark.parametrize("name", [*FINISHED, *UNDISTURBED])
def test_report_names_every_run(name, mlab, recorded, tmp_path):
    folder = recorded(name)
    page = tmp_path / "page.html"
    mlab("report", folder, "--out", page, "--csv", tmp_path / "runs.csv")
    html = page.read_text()
    if name in UNDISTURBED:
        assert only_trace(folder)[0]["run"] in html
        return
    for card in cards(folder):
        assert card["agent"] in html
        assert f", seed {card['seed']}<" in html
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = [(row["run"], float(row["score"])) for row in csv.DictReader(file)]
    assert rows == [(card["run"], card["score"]) for card in cards(folder)]


@pytest.mark.parametrize(("name", "step"), [("tuner", 11), ("research-forked", 5)])
def test_fork_shares_the_steps_and_ends_with_the_same_score(
    name, step, mlab, recorded, tmp_path
):
    folder, new = recorded(name), tmp_path / "new"
    before = contents(folder)
    mlab("resume", folder, "--from-step", step, "--as", new)
    assert contents(folder) == before
    old_steps, new_steps = steps(only_trace(folder)), steps(only_trace(new))
    assert new_steps[:step] == old_steps[:step]
    assert len(new_steps) == len(old_steps)
    (card,), (expected,) = cards(new), cards(folder)
    assert (card["ending"], card["score"]) == ("submitted", expected["score"])
