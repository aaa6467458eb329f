"""The command line as a person or a script meets it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.redteam.leftovers import processes_in

from mlagentbench.cli.main import COMMANDS

MLAB = Path(sys.executable).with_name("mlab")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_summarises_each_command_as_its_own_help_does(mlab, name):
    assert f"  {name} " in mlab("--help").out
    own = " ".join(mlab(name, "--help").out.split())
    assert f" {COMMANDS[name]} " in own


@pytest.mark.parametrize("command", ["tasks", "agents", "doctor"])
def test_json_is_one_document_and_nothing_else(mlab, command):
    said = mlab(command, "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "house-price", "--edition", "full"],
         "task house-price has no edition 'full'; choose from: mini"),
        (["tasks", "--edition", "full"], "no task has an edition 'full'"),
        (["run"], "name a task"),
        (["run", "house-price", "--all"], "not both"),
        (["run", "house-price", "--suite", "paper"], "--all or --suite, not both"),
        (["run", "--all", "--suite", "paper"], "--all or --suite, not both"),
        (["run", "house-price", "--preset", "paper"], "needs a language model"),
        (
            ["run", "--preset", "paper", "--agent", "research", "--agent", "act"],
            "run them with a command of their own",
        ),
        (["report", ".", "--paper", "--out", "page.html"], "remove --out"),
        (["run", "house-price", "-A", "novalue"], "KEY=VALUE"),
        (["run", "house-price", "-A", "foo=1"], "its settings: trials"),
        (["run", "house-price", "-A", "trials=abc"],
         "invalid value 'abc' for -A trials; give an integer from 0 to 1,000,000"),
        (["run", "house-price", "-A", "trials=5.0"], "give an integer"),
        (["run", "house-price", "--agent", "tuner", "--model", "local"],
         "agent tuner uses no language model; remove --model or choose another"),
        (["run", "house-price", "--max-cost", "1"], "remove --max-cost"),
        (["run", "house-price", "--max-total-cost", "1"], "remove --max-total-cost"),
        (["status", "nowhere"], "nowhere is not an experiment"),
        (["run", "house-price", "-M", "a=["], "quotes around the value"),
        (["run", "house-price", "--model", "nosuch/x"], "Use PROVIDER/NAME"),
        (["run", "house-price", "--model", "openai/x"], "OPENAI_API_KEY"),
        (
            ["run", "house-price", "--model", "local", "-M", "b=1"],
            "keyword argument 'b'",
        ),
        (["run", "house-price", "--agent", "starter", "-M", "a=1"], "remove -M"),
        (["run", "house-price", "-M", "api_key=sk-1"], "into the environment"),
        (["run", "house-price", "--role", "judge=nosuch/x"], "Use PROVIDER/NAME"),
        (["run", "house-price", "--parallel", "4096"], "cores"),
        (["run", "house-price", "--runs", "0"], "--runs"),
        *(
            ([command, place], f"{place} is not an experiment")
            for command in ("show", "score", "prune", "report", "resume")
            for place in (".", "nowhere")
        ),
        (["score", "nowhere/deep"], "not an experiment"),
        (["run", "house-price", "--name", "a:b"], "not a name for an agent"),
        (["run", "house-price", "House-Price"], "is given twice"),
        (["compare", ".", "nowhere"], "not an experiment"),
    ],
)  # fmt: skip
def test_a_wrong_command_exits_2_with_one_sentence_and_leaves_nothing(
    mlab, tmp_path, words, hint
):
    said = mlab(*words)
    assert said.code == 2, said.err
    assert hint in said.err
    # One line: no traceback, and no estimate of a run that cannot start.
    assert said.err.startswith("mlab: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback_wherever_it_stands(mlab):
    assert "Traceback" in mlab("run", "house-prise", "--debug").err
    assert "Traceback" in mlab("--debug", "run", "house-prise").err


def test_a_malformed_task_is_told_by_file_field_and_reason(mlab, tmp_path):
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "task.toml").write_text("id = 3\n")
    said = mlab("check", "./task")
    assert said.code == 1
    assert "task.toml" in said.err or "task" in said.err
    assert "Traceback" not in said.err


@pytest.fixture
def mlab_within(cache, tmp_path):
    """Run `mlab` on a machine that lacks something, made with bubblewrap itself."""

    def call(*lacks):
        return subprocess.run(
            ["bwrap", "--dev-bind", "/", "/", *lacks, MLAB, "run", "house-price"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env=os.environ | {"MLAB_CACHE": str(cache)},
        )  # fmt: skip

    return call


def test_without_bubblewrap_a_run_exits_3_and_says_what_to_install(mlab_within):
    said = mlab_within("--ro-bind", "/dev/null", shutil.which("bwrap"))
    assert said.returncode == 3, said.stderr
    assert "bubblewrap" in said.stderr
    assert "install" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.slow
def test_without_user_namespaces_a_run_exits_3_and_says_how_to_allow_them(mlab_within):
    lacks = ("--unshare-user", "--uid", "12345", "--disable-userns")
    said = mlab_within(*lacks)
    assert said.returncode == 3, said.stderr
    assert "user namespaces" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("command", ["prepare", "run"])
def test_a_cache_that_cannot_be_written_is_one_sentence(mlab, command):
    said = mlab(command, "house-price", MLAB_CACHE="/proc/nowhere")
    assert said.code == 3, said.err
    assert "cache /proc/nowhere cannot be written" in said.err
    assert "Traceback" not in said.err


def test_a_run_prints_its_result_and_can_be_shown_scored_and_reported(mlab, tmp_path):
    said = mlab("run", "house-price", "--agent", "starter", "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    experiment = document["experiment"]
    (card,) = document["scorecards"]
    assert card["ending"] == "submitted"
    assert "step 1/50" in said.err
    assert "best validation mae" in said.err
    shown = mlab("show", experiment)
    assert "Execute Script" in shown.out
    assert "ending: submitted" in shown.out
    step = mlab("show", f"{experiment}:starter", "--step", "1")
    assert "validation mae=" in step.out
    assert mlab("show", f"{experiment}:nobody").code == 2
    diff = mlab("show", experiment, "--diff")
    assert "no changes to the starter code" in diff.out
    prompt = mlab("show", experiment, "--prompt", "1")
    assert "step 1 made no model call; no step of this run did" in prompt.out
    again = mlab("score", experiment, "--json")
    assert json.loads(again.out)["scorecards"][0]["score"] == card["score"]
    page = mlab("report", experiment, "--out", "page.html")
    assert page.code == 0, page.err
    assert (tmp_path / "page.html").stat().st_size > 100_000


def test_ctrl_c_ends_the_run_as_interrupted_and_leaves_nothing(cache, tmp_path):
    process = subprocess.Popen(
        [MLAB, "run", "house-price", "--agent", "tuner", "--runs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=os.environ | {"MLAB_CACHE": str(cache)},
        # A shell's background job ignores Ctrl-C, and whatever it starts would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    for line in process.stderr:
        if "step 1/" in line:
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "2 interrupted" in out
    (experiment,) = (tmp_path / "runs").iterdir()
    cards = (experiment / "scorecards.jsonl").read_text().splitlines()
    assert [json.loads(card)["ending"] for card in cards] == ["interrupted"] * 2
    assert json.loads(cards[0])["steps"] >= 1
    assert (experiment / "report.html").exists()
    assert not processes_in(tmp_path)
