"""Output of commands: one JSON document, a table for many runs, a full disk."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MLAB = Path(sys.executable).with_name("mlab")


@pytest.mark.parametrize(("word", "unbuffered"), [("tasks", ""), ("--help", "1")])
def test_a_full_disk_is_one_sentence_and_exit_1(word, unbuffered):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [MLAB, word], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "mlab: cannot write the output: No space left on device\n"


def test_resume_of_a_finished_experiment_prints_one_json_document(mlab, recorded):
    folder = recorded("starter")
    said = mlab("resume", folder, "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    assert document["experiment"] == str(folder)
    assert [card["seed"] for card in document["scorecards"]] == [0, 1]


def test_score_of_two_experiments_prints_one_json_document(mlab, recorded):
    folders = [recorded("starter"), recorded("tuner")]
    said = mlab("score", *folders, "--json")
    assert said.code == 0, said.err
    documents = json.loads(said.out)
    assert [one["experiment"] for one in documents] == [str(one) for one in folders]


def test_many_runs_end_with_a_row_per_task_and_agent(mlab, recorded):
    said = mlab("score", recorded("starter"))
    header, row, runs, report = said.out.splitlines()
    found = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (found["task"], found["agent"], found["runs"]) == ("quick", "starter", "2")
    assert found["success"] == "0 of 2"
    assert found["endings"] == "2 submitted"
    assert runs.startswith("runs: mlab show ")
    assert report.startswith("report: ")


def test_one_run_keeps_its_short_summary(mlab, recorded):
    said = mlab("score", recorded("tuner"))
    assert said.out.splitlines()[0] == "quick:tuner:none:0"
    assert "improvement" in said.out
