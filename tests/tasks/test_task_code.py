import re
import sys

import pytest

from mlagentbench.core.errors import TaskError
from mlagentbench.core.task import Grading, Measured
from mlagentbench.tasks.digest import data_digest, task_digest
from mlagentbench.tasks.load import (
    load_task,
    problem,
    read_measured,
    task_ids,
    write_measured,
)
from mlagentbench.tasks.task_code import load_function, load_grade, load_prepare


def write_prices(path, prices):
    lines = [f"{row},{price}" for row, price in prices.items()]
    path.write_text("\n".join(["Id,SalePrice", *lines]) + "\n")
    return path


@pytest.fixture
def truth(tmp_path):
    return write_prices(tmp_path / "truth.csv", {"1": 100, "2": 300})


def test_a_grader_is_loaded_from_a_folder_anywhere(folder, truth, tmp_path):
    grade = load_grade(load_task(folder))
    answers = write_prices(tmp_path / "answers.csv", {"2": 290, "1": 130})
    assert grade(answers, truth).score == 20.0


def test_two_folders_never_meet_and_an_edited_one_is_loaded_afresh(folder, edit, truth):
    original = load_grade(load_task("house-price"))
    edit("metric.py", "math.fsum(errors)", "7 + math.fsum(errors)")
    edited = load_grade(load_task(folder))
    assert [one(truth, truth).score for one in (original, edited)] == [0.0, 7.0]
    edit("metric.py", "7 + ", "9 + ")
    assert load_grade(load_task(folder))(truth, truth).score == 9.0
    assert not (folder / "__pycache__").exists()
    assert "grade" not in sys.modules
    assert "metric" not in sys.modules


def test_code_that_does_not_import_is_the_tasks_fault(folder, edit):
    edit("grade.py", "from .metric", "from .nowhere")
    with pytest.raises(TaskError, match=r"grade\.py: ModuleNotFoundError"):
        load_grade(load_task(folder))


def test_code_without_its_function_is_the_tasks_fault(folder):
    (folder / "prepare.py").write_text("x = 1\n")
    with pytest.raises(TaskError, match="must define a function named prepare"):
        load_prepare(load_task(folder))


def test_an_optional_file_may_be_absent(folder):
    assert load_function(load_task(folder), "probes") is None


def test_the_folders_digest_covers_what_a_person_wrote_and_nothing_else(folder):
    before = task_digest(folder, "mini")
    (folder / "measured.json").write_text("{}")
    (folder / "checks.json").write_text("{}")
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "grade.pyc").write_bytes(b"x")
    (folder / ".cache").write_text("x")
    assert task_digest(folder, "mini") == before
    (folder / "starter" / "train.py").rename(folder / "starter" / "run.py")
    assert task_digest(folder, "mini") != before


@pytest.mark.parametrize(
    ("name", "decides"),
    [
        ("prepare.py", True),
        ("metric.py", True),
        ("data_description.md", True),
        ("grade.py", False),
        ("problem.md", False),
        ("starter/train.py", False),
        ("README.md", False),
    ],
)
def test_the_datas_digest_covers_what_decides_the_data(folder, name, decides):
    before = data_digest(load_task(folder))
    with (folder / name).open("a") as file:
        file.write("\n# changed\n")
    assert (data_digest(load_task(folder)) != before) is decides


def test_the_datas_digest_covers_the_editions_table(folder, edit):
    before = data_digest(load_task(folder))
    edit("task.toml", "size_mb = 0.5", "size_mb = 0.6")
    assert data_digest(load_task(folder)) != before


def test_the_problem_is_told_with_the_tasks_own_numbers(folder, edit):
    edit("task.toml", "steps = 50", "steps = 33")
    told = problem(load_task(folder))
    assert "33 steps, 60 minutes in all, 10 minutes for one execution" in told
    assert "lower is better" in told
    assert "{" not in told


def test_a_problem_that_asks_for_an_unknown_number_is_refused(folder, edit):
    edit("problem.md", "{steps}", "{stepps}")
    with pytest.raises(
        TaskError, match=r"unknown placeholder \{stepps\}; a problem may name"
    ):
        problem(load_task(folder))


def test_a_problem_names_the_import_limit_of_code_tasks_only(folder):
    text = "Importing may take {loading_seconds} seconds."
    (folder / "problem.md").write_text(text)
    task = load_task(folder)
    with pytest.raises(TaskError, match=r"unknown placeholder \{loading_seconds\}"):
        problem(task)
    grading = Grading(visible_inputs="i", visible_truth="t", loading_seconds=7)
    of_code = task.model_copy(update={"grading": grading})
    assert problem(of_code) == "Importing may take 7 seconds."


def test_the_import_limit_is_the_one_that_problem_texts_promise():
    promise = re.compile(
        r"may take (\d+) seconds(?: to be\s+imported| and are not timed)"
    )
    promised = {
        name: float(found[1])
        for name in task_ids()
        if (found := promise.search(problem(load_task(name))))
    }
    assert len(promised) >= 3
    for name, seconds in promised.items():
        assert load_task(name).grading.loading_seconds == seconds


def test_braces_of_other_kinds_stay(folder):
    (folder / "problem.md").write_text('{"a": 1} {} {Steps} {minutes}')
    assert problem(load_task(folder)) == '{"a": 1} {} {Steps} 60'


def test_measurements_of_one_edition_keep_the_others(folder):
    found = read_measured(folder)["mini"]
    other = Measured(starter=found.starter, reference=found.reference, digest="x")
    write_measured(folder, "full", other)
    assert read_measured(folder) == {"mini": found, "full": other}
    assert not list(folder.glob(".measured*"))
