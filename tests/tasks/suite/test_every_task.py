"""What holds for every task of the suite.

A task that passed all its checks as it stands is not run again; one whose folder
changed since is, and so is one more in rotation, another every day.
"""

import re
import time
from pathlib import Path

import pytest

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver
from mlagentbench.core.score import SUCCESS_THRESHOLD
from mlagentbench.run.measure import PipelineBench
from mlagentbench.tasks.check import check, read_checks
from mlagentbench.tasks.check.checks import data_is_as_prepared, labels_do_not_leak
from mlagentbench.tasks.check.evidence import Subject
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import CANARY, load_task, problem, task_ids
from mlagentbench.tasks.prepare import prepare

TASKS = task_ids()
PROJECT = Path(__file__).parents[3]


def stands_as_checked(name):
    task = load_task(name)
    checked = read_checks(task.folder).get(task.edition)
    if checked is None or checked.digest != task_digest(task.folder):
        return False
    return all(finding.ok for finding in checked.findings)


def due():
    """Tasks to be checked for real today."""
    today = int(time.time() // 86_400)
    changed = [name for name in TASKS if not stands_as_checked(name)]
    return sorted({*changed, TASKS[today % len(TASKS)]})


@pytest.fixture
def subject(request, tmp_path):
    task = load_task(request.param)
    prepared = prepare(task, default_cache())
    bench = PipelineBench(default_cache(), NullObserver())
    return Subject(task=task, prepared=prepared, bench=bench, scratch=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", due())
def test_a_changed_task_and_one_in_rotation_are_sound(name, tmp_path):
    task, cache = load_task(name), default_cache()
    bench = PipelineBench(cache, NullObserver())
    findings = check(task, prepare(task, cache), bench, scratch=tmp_path)
    assert [f"{f.check}: {f.detail}" for f in findings if not f.ok] == []


@pytest.mark.parametrize("subject", TASKS, indirect=True)
def test_changing_held_out_labels_leaves_what_agents_see_as_it_is(subject):
    verdict = labels_do_not_leak(subject)
    assert verdict.ok, verdict.detail


@pytest.mark.parametrize("subject", TASKS, indirect=True)
def test_what_agents_see_is_as_prepared_and_equally_old(subject):
    verdict = data_is_as_prepared(subject)
    assert verdict.ok, verdict.detail


@pytest.mark.parametrize("name", TASKS)
def test_measurements_are_of_the_folder_as_it_stands(name):
    task = load_task(name)
    assert task.measured is not None
    assert task.measured.digest == task_digest(task.folder)
    assert task.measured.starter.n >= 8


@pytest.mark.parametrize("name", TASKS)
def test_no_measured_starter_succeeds_and_the_reference_is_clear_of_the_bar(name):
    task = load_task(name)
    starter, reference = task.measured.starter, task.measured.reference
    gains = [
        task.direction.sign * (score - starter.mean) / abs(starter.mean)
        for score in (*starter.scores, reference.mean)
    ]
    assert max(gains[:-1]) <= SUCCESS_THRESHOLD
    assert gains[-1] >= 1.5 * SUCCESS_THRESHOLD


@pytest.mark.parametrize("name", TASKS)
def test_the_card_carries_the_canary_and_says_what_the_data_is(name):
    task = load_task(name)
    card = (task.folder / "README.md").read_text()
    first = card.partition("\n\n")[2].partition("\n\n")[0]
    assert CANARY in card
    assert task.data.data.casefold() in first.casefold()


@pytest.mark.parametrize("name", TASKS)
def test_the_problem_is_filled_in_and_names_its_metric_direction_and_files(name):
    task = load_task(name)
    told = " ".join(problem(task).split())
    assert not re.search(r"\{[a-z_]+\}", told)
    assert f"{task.direction} is better" in told
    assert "evaluate.py" in told
    for path in sorted(prepare(task, default_cache()).public.rglob("*")):
        if path.is_file() and task.grading is None:
            assert path.name in told, path.name


def test_no_task_imports_another():
    folders = [load_task(name).folder for name in TASKS]
    for folder in folders:
        for file in folder.rglob("*.py"):
            assert "tasks.suite." not in file.read_text(), file
