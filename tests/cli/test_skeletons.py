"""`mlab new-task` and `mlab new-agent`: skeletons that run as they are."""

import json
from pathlib import Path

import pytest

from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import CANARY, load_task
from mlagentbench.tasks.skeleton import KINDS, TEMPLATES

QUICK = Path(__file__).parents[1] / "data/recorded/task"


@pytest.mark.parametrize("kind", KINDS)
def test_templates_are_measured_as_they_are(kind):
    task = load_task(TEMPLATES / kind)
    assert task.measured.digest == task_digest(task.folder, "mini")
    assert task.measured.starter.n >= 8


@pytest.mark.parametrize("kind", KINDS)
def test_new_task_writes_a_measured_task_of_that_name(mlab, tmp_path, kind):
    said = mlab("new-task", "rain-42", "--kind", kind)
    assert said.code == 0, said.err
    task = load_task(tmp_path / "rain-42")
    assert (task.id, task.modality) == ("rain-42", kind)
    assert task.measured.digest == task_digest(task.folder, "mini")
    files = [path for path in task.folder.rglob("*") if path.is_file()]
    assert not any("new-task" in path.read_text() for path in files)
    assert CANARY in (task.folder / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_new_task_passes_its_check_at_once(mlab, kind):
    assert mlab("new-task", "rain", "--kind", kind).code == 0
    said = mlab("check", "./rain", "--json")
    findings = json.loads(said.out)["rain@1/mini"]
    assert [one for one in findings if not one["ok"]] == []
    assert said.code == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["new-task", "../up"], "not a task name"),
        (["new-task", "x" * 61], "not a task name"),
        (["new-task", "house-price"], "task of the suite"),
        (["new-task", "taken"], "already exists"),
        (["new-task", "mine", "--kind", "sound"], "tabular"),
        (["new-agent", "my-agent"], "not a module name"),
        (["new-agent", "class"], "not a module name"),
        (["new-agent", "json"], "already installed"),
        (["new-agent", "full"], "already exists"),
    ],
)
def test_a_bad_name_is_refused_and_nothing_is_written(mlab, tmp_path, words, hint):
    (tmp_path / "taken").mkdir()
    (tmp_path / "full.py").write_text("mine")
    said = mlab(*words)
    assert said.code == 2
    assert hint in said.err
    assert {path.name for path in tmp_path.iterdir()} == {"taken", "full.py"}
    assert (tmp_path / "full.py").read_text() == "mine"


def test_new_agent_improves_a_task(mlab, tmp_path, monkeypatch):
    said = mlab("new-agent", "doubler")
    assert said.code == 0, said.err
    assert "--agent doubler:solve" in said.out
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = mlab(
        *("run", QUICK, "--agent", "doubler:solve", "--max-steps", "8", "--json")
    )
    (card,) = json.loads(run.out)["scorecards"]
    assert (card["ending"], card["success"]) == ("submitted", True)
