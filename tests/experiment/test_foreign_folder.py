"""Folders that a stranger wrote are data: they name no code and lead nowhere else."""

import json
import os
import shlex

import pytest
from tests.support.records import card

from mlagentbench.experiment.experiment import Experiment
from mlagentbench.study.cell import Cell
from mlagentbench.study.study import Study, open_store
from mlagentbench.tasks.digest import task_digest

READERS = (
    ("show", "{}"),
    ("show", "{}", "--diff"),
    ("show", "{}", "--prompt", "1"),
    ("report", "{}"),
    ("status", "{}"),
    ("compare", "{}", "{}:starter"),
    ("prune", "{}"),
    ("score", "{}"),
    ("score", "{}", "--steps"),
    ("resume", "{}"),
)


@pytest.fixture
def stranger(mlab, recorded, tmp_path, monkeypatch):
    """An experiment whose task folder and agent leave a mark when they are run."""
    monkeypatch.delenv("MLAB_TASK_PATH", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    mark = tmp_path / "mark"
    code = f"open({str(mark)!r}, 'w').close()\n"
    folder, task = recorded("starter"), tmp_path / "task"
    for name in ("prepare.py", "grade.py", "metric.py"):
        (task / name).write_text(code + (task / name).read_text())
    (tmp_path / "foreign_agent.py").write_text(code + "async def act(context): ...\n")
    asked = json.loads((folder / "experiment.json").read_text())
    asked["tasks"][0]["digest"] = task_digest(task, "mini")
    (folder / "experiment.json").write_text(json.dumps(asked))
    return Experiment(folder), mark


def change(experiment, **fields):
    path = experiment.folder / "experiment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_no_command_runs_code_that_a_folder_names(mlab, stranger, words):
    experiment, mark = stranger
    for agent in ("starter", "foreign_agent:act"):
        change(experiment, agent=agent, seeds=[0, 7])
        said = mlab(*(word.format(experiment.folder) for word in words))
        assert not mark.exists()
        if words[0] in ("score", "resume"):
            assert said.code == 2
            assert "if you trust" in said.err


def test_a_named_task_counts_only_with_the_recorded_digest(mlab, stranger, tmp_path):
    experiment, mark = stranger
    (tmp_path / "task" / "README.md").write_text("changed")
    said = mlab("score", experiment.folder, "--task-path", tmp_path / "task")
    assert said.code == 2
    assert "has another digest" in said.err
    assert not mark.exists()


def test_a_named_task_is_graded(mlab, stranger, tmp_path):
    experiment, mark = stranger
    said = mlab("score", experiment.folder, "--task-path", tmp_path / "task")
    assert said.code == 0, said.err
    assert mark.exists()


def test_resume_refuses_model_arguments_that_the_user_did_not_name(mlab, stranger):
    experiment, _ = stranger
    args = {"base_url": "http://localhost:9", "port": "9", "tools": [1, "no"]}
    change(experiment, model="openai/gpt", model_args=args, agent="act", seeds=[7])
    said = mlab("resume", experiment.folder)
    assert said.code == 2
    assert "-M base_url=http://localhost:9" in said.err
    options = shlex.split(said.err.strip().rpartition("add ")[2])
    assert "model arguments" not in mlab("resume", experiment.folder, *options).err


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task": "/stranger/task"}, "--task-path /stranger/task"),
        ({"agent": "foreign_agent:act"}, "--agent foreign_agent:act"),
        ({"model_args": {"base_url": "x"}}, "model arguments"),
    ],
)
def test_a_studys_folder_names_no_code(mlab, tmp_path, changes, sentence):
    given = {"task": "house-price", "agent": "starter"} | changes
    cell = Cell(task_name="house-price@2/mini", task_digest="0", **given)
    study = Study(open_store(str(tmp_path / "study")))
    study.add_plan("s", "", [cell])
    said = mlab("study", tmp_path / "study")
    assert said.code == 2
    assert sentence in said.err
    for command in ("status", "report"):
        assert mlab(command, tmp_path / "study").code == 0


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "home" / ".secret"
    path.parent.mkdir()
    path.write_text("keep me")
    return path


@pytest.mark.parametrize(
    "place", ["trace/blobs", "snapshots/incoming", "snapshots/objects", "units", "logs"]
)
@pytest.mark.parametrize("command", ["prune", "score", "resume"])
def test_no_file_beyond_a_link_is_deleted(mlab, recorded, secret, place, command):
    folder = recorded("starter")
    link = folder / place
    if link.is_dir():
        link.rename(folder / "moved")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(secret.parent)
    said = mlab(command, folder)
    assert said.code == 2
    assert f"{link} is a link" in said.err
    assert secret.read_text() == "keep me"


def test_a_linked_submission_is_not_graded(mlab, recorded, secret):
    folder = recorded("starter")
    submission, _ = folder.glob("submissions/*/submission.csv")
    submission.unlink()
    submission.symlink_to(secret)
    assert "is a link" in mlab("score", folder).err


def test_readers_follow_no_link(tmp_path, secret):
    experiment = Experiment(tmp_path / "exp")
    experiment.folder.mkdir()
    experiment.add_scorecard(card())
    run = card().run
    (experiment.folder / "units").mkdir()
    (experiment.folder / "units" / f"{run}.npz").symlink_to(secret)
    (experiment.folder / "trace").symlink_to(secret.parent)
    os.mkfifo(experiment.folder / "steps.jsonl")
    for read in (
        lambda: experiment.read_units(run),
        lambda: experiment.trace(run),
        experiment.step_scores,
    ):
        with pytest.raises(Exception, match=r"not followed|Not a (regular|directory)"):
            read()
