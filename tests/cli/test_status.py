"""`mlab status` and the list of `mlab show`."""

import json
import subprocess
import sys
import time
from pathlib import Path

MLAB = Path(sys.executable).with_name("mlab")


def test_status_prints_one_row_per_run_and_one_json_document(mlab, recorded):
    folder = recorded("tuner-killed")
    said = mlab("status", folder)
    assert said.code == 0, said.err
    assert "quick:tuner:none:0\trunning: " in said.out
    assert "1 run; 1 running" in said.out
    document = json.loads(mlab("status", folder, "--json").out)
    assert document["counts"] == {
        "waiting": 0, "running": 1, "finished": 0, "stopped": 0,
    }  # fmt: skip


def test_status_of_no_experiment_is_one_sentence_and_leaves_nothing(mlab, tmp_path):
    said = mlab("status", tmp_path / "nowhere")
    assert said.code == 2
    assert "not an experiment" in said.err
    assert not (tmp_path / "nowhere").exists()


def test_the_page_reloads_until_every_run_has_a_scorecard(recorded, tmp_path):
    folder, page = recorded("tuner-killed"), tmp_path / "status.html"
    process = subprocess.Popen(
        [MLAB, "status", folder, "--page", page], stdout=subprocess.DEVNULL
    )
    try:
        _wait_for(page, lambda text: 'http-equiv="refresh"' in text)
        done = (recorded("tuner") / "scorecards.jsonl").read_text()
        (folder / "scorecards.jsonl").write_text(done)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
    text = page.read_text()
    assert 'http-equiv="refresh"' not in text
    assert "submitted" in text


def test_show_lists_several_runs_and_shows_the_steps_of_one(mlab, recorded):
    folder = recorded("starter")
    listed = mlab("show", folder)
    assert "quick:starter:none:0\tsubmitted" in listed.out
    assert "Execute Script" not in listed.out
    one = mlab("show", folder, "quick:starter:none:1")
    assert one.out.splitlines()[0] == "quick:starter:none:1"
    assert "Execute Script" in one.out
    assert mlab("show", folder, "nobody").code == 2


def _wait_for(path, is_right):
    deadline = time.monotonic() + 120
    while not (path.exists() and is_right(path.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.1)
