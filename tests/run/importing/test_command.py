"""`mlab import-original` as a person meets it, and the report of what it made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.run.importing.builder import ANSWER, EDIT, RUN_TRAIN, make_run

MLAB = Path(sys.executable).with_name("mlab")


@pytest.fixture
def mlab(tmp_path):
    """Run `mlab` with words and return what it said."""
    return lambda *words: subprocess.run(
        [MLAB, *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )


@pytest.fixture
def logs(tmp_path) -> Path:
    folder = tmp_path / "final_exp_logs"
    make_run(folder / "gpt4" / "imdb" / "1", [RUN_TRAIN, EDIT, ANSWER], agent={})
    make_run(folder / "gpt4" / "imdb" / "2", [RUN_TRAIN], total=None)
    make_run(folder / "gpt4" / "cifar10" / "3", [EDIT, ANSWER], agent={})
    (folder / "gpt4" / "cifar10" / "3" / "env_log" / "trace.json").write_text("{")
    return folder


def test_what_was_read_is_told_and_what_was_not_is_named(mlab, logs, tmp_path):
    said = mlab("import-original", "final_exp_logs")
    assert said.returncode == 0, said.stderr
    assert "3 runs: 1 broken, 1 submitted, 1 interrupted" in said.stdout
    assert "3 have no score" in said.stdout
    assert "gpt4/cifar10/3/env_log/trace.json: not read" in said.stderr
    assert (tmp_path / "runs/final_exp_logs-original/scorecards.jsonl").is_file()


def test_json_is_one_document(mlab, logs):
    said = mlab("import-original", "final_exp_logs", "--out", "made", "--json")
    held = json.loads(said.stdout)
    assert held["experiment"] == "made"
    assert len(held["runs"]) == 3
    assert len(held["warnings"]) == 1


@pytest.mark.parametrize(
    "words", [["nowhere"], ["final_exp_logs", "--results", "none.json"], ["empty"]]
)
def test_a_wrong_path_is_a_wrong_command(mlab, logs, tmp_path, words):
    (tmp_path / "empty").mkdir()
    said = mlab("import-original", *words)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr


def test_a_report_shows_the_runs_and_says_with_what_they_cannot_be_compared(
    mlab, logs, tmp_path
):
    mlab("import-original", "final_exp_logs", "--out", "made")
    said = mlab("report", "made")
    assert said.returncode == 0, said.stderr
    page = (tmp_path / "made" / "report.html").read_text()
    assert "cifar10:original[agent=ResearchAgent]:claude-v1:1" in page
    assert "Runs of the original benchmark" in page
    assert "imported: not judged by us" in page
    assert "train for longer" in page
