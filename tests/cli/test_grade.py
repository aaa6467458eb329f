"""`mlab workspace` and `mlab grade`: work that is done outside of the harness."""

import csv
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.support.code_task import (
    REFERENCE,
    copy_task,
    csv_rows,
    quick_code_task,
)

from mlagentbench.tasks.skeleton import write_skeleton

QUICK = Path(__file__).parents[1] / "data/recorded/task"


@pytest.fixture
def workspace(mlab, tmp_path):
    """The workspace of the quick task, without tools of the sandbox on the PATH."""
    said = mlab("workspace", QUICK, "work", PATH="/nowhere")
    assert said.code == 0, said.err
    return tmp_path / "work"


@pytest.fixture
def answers(workspace, tmp_path):
    """Write a submission that predicts the same for every row."""
    with (workspace / "data/test.csv").open(newline="") as file:
        ids = [row["Id"] for row in csv.DictReader(file)]

    def write(name, value):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Id,y\n" + "".join(f"{one},{value}\n" for one in ids))
        return path

    return write


def table(text):
    header, *rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_workspace_holds_the_files_an_agent_sees_and_no_labels(workspace):
    files = {p.relative_to(workspace).as_posix() for p in workspace.rglob("*.*")}
    data = {"data/train.csv", "data/validation.csv", "data/test.csv"}
    assert files == {"train.py", "evaluate.py", "problem.md", *data}
    assert "Predict `y`" in (workspace / "problem.md").read_text()
    assert "y" not in (workspace / "data/test.csv").read_text().splitlines()[0]


def test_workspace_refuses_a_folder_with_files(mlab, workspace):
    (workspace / "train.py").write_text("mine")
    said = mlab("workspace", QUICK, "work")
    assert said.code == 2
    assert "not empty" in said.err
    assert (workspace / "train.py").read_text() == "mine"


def test_class_is_graded_in_one_table_with_the_best_first(mlab, answers, tmp_path):
    answers("class/alice.csv", 1000)
    answers("class/bob.csv", 11.5)
    answers("class/carol/submission.csv", 100)
    (tmp_path / "class/dan.csv").write_text("Id,y\n80,many\n")
    (tmp_path / "class/eve.csv").symlink_to("/etc/passwd")
    (tmp_path / "class/fay").symlink_to(tmp_path / "class/carol")
    os.mkfifo(tmp_path / "class/gus.csv")
    (tmp_path / "class/hal.csv").write_bytes(b"x" * (2**20 + 1))
    (tmp_path / "class/ida").mkdir()

    said = mlab("grade", QUICK, *sorted((tmp_path / "class").iterdir()))

    assert said.code == 1, said.err
    rows = table(said.out)
    assert [row["submission"] for row in rows[:3]] == ["bob", "carol", "alice"]
    assert not any(row["problem"] for row in rows[:3])
    problems = {row["submission"]: row["problem"] for row in rows[3:]}
    assert "39 of 40 rows are missing" in problems.pop("dan")
    assert problems == {
        "eve": "eve.csv: Links are not followed",
        "fay": "fay: Links are not followed",
        "gus": "gus.csv: Not a regular file",
        "hal": "hal.csv makes the submission larger than 1 MB",
        "ida": "submission.csv is missing",
    }


def test_graded_submissions_are_an_experiment(mlab, answers, tmp_path):
    paths = [answers("a/submission.csv", 12), answers("b/submission.csv", 11)]
    said = mlab("grade", QUICK, *paths, "--as", "notebook", "--json")
    assert said.code == 0, said.err
    document = json.loads(said.out)
    cards = document["scorecards"]
    assert [card["run"] for card in cards] == [
        "quick:notebook:none:0",
        "quick:notebook:none:1",
    ]
    assert {card["origin"] for card in cards} == {"external"}
    assert all(card["starter"] and not card["process"] for card in cards)
    folder = document["experiment"]

    again = mlab("score", folder, "--task-path", QUICK, "--json")
    assert again.code == 0, again.err
    fresh = json.loads(again.out)["scorecards"]
    assert [(card["score"], card["origin"]) for card in fresh] == [
        (card["score"], "external") for card in cards
    ]
    assert "submitted" in mlab("show", f"{folder}:{cards[0]['run']}").out
    page = mlab("report", folder, "--out", "page.html")
    assert page.code == 0, page.err
    text = (tmp_path / "page.html").read_text()
    # The filter of the page compares these.
    named = set(re.findall(r"data-agent=\"([^\"]*)\"", text))
    assert named == {"notebook (external)"}
    refused = mlab("resume", folder)
    assert refused.code == 2
    assert "made elsewhere" in refused.err


def test_submissions_of_equal_names_are_told_apart(mlab, answers):
    paths = [answers(f"{name}/answer.csv", 11) for name in ("a", "b")]
    said = mlab("grade", QUICK, *paths)
    assert said.code == 0, said.err
    assert {row["submission"] for row in table(said.out)} == {"a/answer", "b/answer"}


def test_names_cannot_leave_the_experiment_or_the_table(mlab, answers, tmp_path):
    strange = answers("..\x1b[2J\n:x.csv", 11)
    said = mlab("grade", QUICK, strange, "--out", "out", "--as", "../../up")
    assert said.code == 0, said.err
    said = mlab("grade", QUICK, strange, "--out", "out")
    assert said.code == 0, said.err
    assert "\x1b" not in said.out
    assert len(table(said.out)) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"work", "out", strange.name}
    assert len([*tmp_path.glob("out/*/submissions/*/submission.csv")]) == 2


def test_an_agent_and_outside_work_of_its_name_are_two_columns(mlab, answers, tmp_path):
    recorded = tmp_path / "recorded"
    shutil.copytree(QUICK.parent / "starter", recorded)
    said = mlab("grade", QUICK, answers("x.csv", 11), "--as", "starter", "--json")
    folder = json.loads(said.out)["experiment"]
    compared = mlab("compare", recorded, folder)
    assert compared.code == 0, compared.err
    assert compared.out.startswith("A: starter\nB: starter (external)\n")


def test_scores_on_hidden_data_are_counted_by_name(mlab, tmp_path):
    write_skeleton("rain", "tabular", tmp_path / "rain")
    said = mlab("workspace", "./rain", "work")
    assert "mlab grade ./rain work --validation" in said.out

    def write(name, part, value):
        rows = csv_rows(tmp_path / f"work/data/{part}.csv")
        assert "strength" not in rows[0]
        lines = [f"{row['Id']},{value}\n" for row in rows]
        (tmp_path / name).write_text("Id,strength\n" + "".join(lines))

    def measured(*words):
        said = mlab("grade", "./rain", *words, "--validation")
        return said.code, table(said.out)

    write("work/validation.csv", "validation", 50)
    code, (row,) = measured("work")
    assert (code, row["submission"], row["queries"]) == (0, "work", "1")
    assert float(row["validation mae"].split()[0]) > 1
    write("other.csv", "validation", 40)
    _, rows = measured("work", "other.csv", "--as", "me")
    assert [row["queries"] for row in rows] == ["1", "2"]
    (tmp_path / "bad.csv").write_text("Id,strength\n")
    code, rows = measured("bad.csv", "--as", "me")
    assert (code, rows[0]["queries"]) == (1, "2")
    assert "rows are missing" in rows[0]["problem"]
    assert not [*tmp_path.glob("runs/*/*")]

    write("test.csv", "test", 50)
    for gradings in ("1", "2"):
        said = mlab("grade", "./rain", "test.csv", "--as", "me")
        assert [row["gradings"] for row in table(said.out)] == [gradings]


def test_validation_of_a_task_without_that_split_is_refused(mlab, tmp_path):
    edits = (
        ("task.toml", "[validation]", "[editions.other]"),
        ("task.toml", 'answers = "validation.csv"', 'data = "real"\nsize_mb = 1'),
        ("task.toml", 'truth = "data/validation.csv"', 'summary = "none"'),
    )
    task = copy_task(QUICK, tmp_path / "task", *edits)
    said = mlab("grade", task, task, "--validation")
    assert said.code == 2
    assert "has no validation split" in said.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["nowhere.csv"], "no file or folder nowhere.csv"),
        (["work", "--as", " "], "--as needs a name"),
    ],
)
def test_a_wrong_grade_command_leaves_nothing_behind(mlab, workspace, words, hint):
    said = mlab("grade", QUICK, *words)
    assert said.code == 2
    assert hint in said.err
    assert not Path("runs").exists()


@pytest.mark.slow
def test_code_from_elsewhere_is_run_in_the_sandbox(mlab, tmp_path):
    task = quick_code_task(tmp_path / "task")
    (tmp_path / "good.py").write_text(REFERENCE)
    (tmp_path / "bad.py").write_text("def forward(:")
    said = mlab("grade", task, "good.py", "bad.py")
    assert said.code == 1, said.err
    good, bad = table(said.out)
    assert (good["submission"], good["problem"]) == ("good", "")
    assert (bad["submission"], bad["relative_time"]) == ("bad", "-")
    assert bad["problem"]
