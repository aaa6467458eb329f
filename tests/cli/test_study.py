"""`mlab study`, and `mlab run` with several agents or models."""

import json

import pytest
from tests.support.quick_task import QUICK_TASK

TABLE = f"""\
name = "quick"
[[cells]]
tasks = "{QUICK_TASK}"
agents = ["starter"]
seeds = 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "quick.toml"
    path.write_text(TABLE)
    return path


def test_dry_run_prints_cells_hours_cost_and_disk(mlab, file, tmp_path):
    done = mlab("study", file.name, "--dry-run", "--parallel", 1, "--keep", "all")
    assert (done.code, done.err) == (0, "")
    head, row, total, disk = done.out.splitlines()
    assert head.split("\t") == [
        "task",
        "agent",
        "model",
        "cells",
        "max hours",
        "max cost",
    ]
    assert row.split("\t")[:4] == ["quick@1/mini", "starter", "none", "2"]
    assert total.startswith("quick: 2 cells; 1 in parallel: at most ")
    assert total.endswith(" h, no model costs")
    assert disk.startswith("disk: at most ")
    assert "--keep all" in disk
    assert [path.name for path in tmp_path.iterdir()] == ["quick.toml"]


def test_dry_run_as_json_is_one_document(mlab, file):
    model = 'models = ["mockllm/model"]\nseeds = 3\nlimits = { minutes = 30 }\n'
    text = TABLE.replace('["starter"]', '["starter", "react"]')
    file.write_text(text.replace("seeds = 2\n", model))
    # The options come first, and the file stands in place of a command.
    done = mlab("study", "--dry-run", "--json", "--parallel", 1, file.name)
    found = json.loads(done.out)
    assert len(found["cells"]) == 6
    assert found["max_hours"] == 3.0
    assert found["max_cost_usd"] is None
    assert found["cells"][-1]["run"] == "quick:react:mockllm/model:2"


def test_a_study_runs_what_is_missing_and_prints_results(mlab, file, tmp_path):
    stopped = mlab("study", file.name, "--max-total-hours", "1e-9", "--json")
    missing = json.loads(stopped.out)["missing"]
    assert (stopped.code, list(missing.values())) == (1, ["waiting", "waiting"])
    assert "the study has run for --max-total-hours" in stopped.err

    named = ("--task-path", QUICK_TASK)
    assert (
        f"continue: mlab study {tmp_path / 'runs/quick'} {named[0]} {named[1]}\n"
        in (mlab("study", file.name, "--max-total-hours", "1e-9").out)
    )
    done = mlab("study", file.name)
    assert done.code == 0
    assert "2 of 2 cells done" in done.err
    _, row, report = done.out.splitlines()
    assert row.split("\t")[:3] == ["quick", "starter", "2"]
    assert row.endswith("2 submitted")
    assert report == f"report: mlab report {tmp_path / 'runs/quick'}"

    # A folder stands for its last plan, and an edited file adds cells.
    again = mlab("study", "runs/quick", "--json", *named)
    assert "quick: 2 cells, nothing to run" in again.err
    found = json.loads(again.out)
    assert (again.code, found["missing"], len(found["scorecards"])) == (0, {}, 2)
    file.write_text(TABLE.replace("seeds = 2", "seeds = 5"))
    planned = mlab("study", file.name, "--dry-run")
    assert "quick: 5 cells, 2 with a result; " in planned.out

    cancelled = mlab("study", "cancel", "runs/quick")
    assert cancelled.out == "cancelled; `mlab study runs/quick` continues\n"
    assert "cancelled" in mlab("status", "runs/quick").out


def test_keys_of_an_env_file_are_used_and_kept_from_others(mlab, file, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = TABLE.replace('["starter"]', '["react"]\nmodels = ["openai/gpt-4o"]')
    file.write_text(models)
    words = ("study", file.name, "--dry-run")
    assert "OPENAI_API_KEY" in mlab(*words).err
    # The nodes of a Slurm cluster may have keys that this machine has not.
    assert mlab(*words, "--on", "slurm").code == 0
    keys = file.with_name("keys.env")
    keys.write_text("OPENAI_API_KEY=sk-secret\n")
    keys.chmod(0o644)
    assert "chmod 600" in mlab(*words, "--env-file", keys.name).err
    keys.chmod(0o600)
    done = mlab(*words, "--env-file", keys.name)
    assert done.code == 0
    assert "model costs are not capped; set cost_usd in limits" in done.out


def test_results_of_something_else_are_not_mixed(mlab, file, recorded):
    experiment = recorded("starter")
    done = mlab("study", file.name, "--out", experiment)
    assert "is an experiment; choose another folder with --out" in done.err
    stopped = ("--max-total-hours", "1e-9", "--out", "one")
    assert mlab("study", file.name, *stopped).code == 1
    file.write_text(TABLE.replace('"quick"', '"other"'))
    done = mlab("study", file.name, *stopped)
    assert done.code == 2
    assert "one holds the study quick, not other" in done.err


@pytest.mark.slow
def test_several_agents_of_mlab_run_are_a_study(mlab, tmp_path):
    agents = ("--agent", "starter", "--agent", "reference")
    done = mlab("run", QUICK_TASK, *agents, "--max-steps", 3, "--json")
    assert done.code == 0
    found = json.loads(done.out)
    runs = [card["run"] for card in found["scorecards"]]
    assert runs == ["quick:starter:none:0", "quick:reference:none:0"]
    (folder,) = (tmp_path / "runs").iterdir()
    assert found["study"] == str(folder)
    assert folder.name.endswith("-task-study")
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["study", "nwe"], "nwe is not a study file or a folder; did you mean new?"),
        (["study", "none.toml"], "none.toml cannot be read: No such file"),
        (["study", "."], "is not a study: no study.json"),
        (["study", "cancel", "."], "is not a study: no study.json"),
        (["study", "new", "x"], "a study file ends in .toml, unlike x"),
        (["study", "quick.toml", "--connections", "openai=0"],
         "--connections takes PROVIDER=N, not 'openai=0'"),
        (["study", "quick.toml", "--parallel", "999"], "more than this machine's"),
        (["study", "quick.toml", "--address", "auto"], "--address also needs --on ray"),
        (["study", "quick.toml", "--slurm", "qos=low"], "also need --on slurm"),
        (["run", "imdb", "--agent", "act", "--agent", "tuner"],
         "agent act needs a language model"),
        (["run", "imdb", "--agent", "starter", "--agent", "tuner", "--name", "x"],
         "--name needs one agent and one model"),
        (["run", "imdb", "--agent", "act", "--agent", "bash", "--model", "openai/x",
          "--max-total-cost", "1"], "openai"),
    ],
)  # fmt: skip
def test_a_wrong_command_is_one_sentence(mlab, file, tmp_path, words, expected):
    done = mlab(*words, OPENAI_API_KEY="none")
    assert (done.code, done.out) == (2, "")
    assert expected in done.err
    assert len(done.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["quick.toml"]


def test_a_new_study_file_can_be_run_at_once(mlab, tmp_path):
    assert mlab("study", "new", "mine.toml").code == 0
    done = mlab("study", "mine.toml", "--dry-run")
    assert "mine: 4 cells" in done.out
