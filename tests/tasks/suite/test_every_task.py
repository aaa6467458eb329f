"""What holds for every task of the suite.

`make slow` runs `mlab check` for every task that changed since its last check, and
for another task every day. `make test` relies on the recorded check of the others.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver
from mlagentbench.core.success import SUCCESS_THRESHOLD
from mlagentbench.run.measure import PipelineBench
from mlagentbench.tasks.check import check_task, read_checks
from mlagentbench.tasks.check.checks import data_is_as_prepared
from mlagentbench.tasks.check.evidence import Subject
from mlagentbench.tasks.check.runner import CHECKS
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import CANARY, load_task, problem, task_ids
from mlagentbench.tasks.prepare import prepare_task

TASKS = task_ids()
PROJECT = Path(__file__).parents[3]


def last_check(name):
    """Return the check of the folder as it is now; None if it changed since."""
    task = load_task(name)
    checked = read_checks(task.folder).get(task.edition)
    is_current = checked is not None and checked.digest == task_digest(
        task.folder, task.edition
    )
    return checked if is_current else None


def due():
    """Tasks that changed since their last check, and one in rotation by date."""
    changed = [name for name in TASKS if last_check(name) is None]
    today = datetime.now(UTC).timetuple().tm_yday
    return sorted({*changed, TASKS[today % len(TASKS)]})


@pytest.mark.slow
@pytest.mark.parametrize("name", due())
def test_changed_task_and_one_in_rotation_are_valid(name, tmp_path):
    task, cache = load_task(name), default_cache()
    bench = PipelineBench(cache, NullObserver())
    findings = check_task(task, prepare_task(task, cache), bench, scratch=tmp_path)
    assert [f"{f.check}: {f.detail}" for f in findings if not f.ok] == []


@pytest.mark.parametrize("name", TASKS)
def test_last_check_of_an_unchanged_task_found_nothing(name):
    checked = last_check(name)
    if checked is None:
        pytest.skip("the task changed since its last check; `make slow` checks it")
    found = {finding.check: finding.ok for finding in checked.findings}
    known = {check_task.__name__.replace("_", " ") for check_task in CHECKS}
    # Graders of version 1 return no units, and were checked before this check existed.
    optional = {"units give the score"} if load_task(name).version == 1 else set()
    assert found.keys() | optional == known
    assert all(found.values())


@pytest.mark.parametrize("name", TASKS)
def test_tasks_hide_validation_labels_from_version_2_on(name):
    task = load_task(name)
    assert task.hides_validation == (task.version > 1)


@pytest.mark.parametrize("name", TASKS)
def test_data_is_as_prepared_and_equally_old(name, tmp_path):
    task = load_task(name)
    prepared = prepare_task(task, default_cache())
    subject = Subject(task=task, prepared=prepared, bench=None, scratch=tmp_path)
    verdict = data_is_as_prepared(subject)
    assert verdict.ok, verdict.detail


@pytest.mark.parametrize("name", TASKS)
def test_measurements_are_of_the_folder_as_it_stands(name):
    task = load_task(name)
    assert task.measured is not None
    assert task.measured.digest == task_digest(task.folder, task.edition)
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
    for path in sorted(prepare_task(task, default_cache()).public.rglob("*")):
        if path.is_file() and task.grading is None:
            assert path.name in told, path.name


def test_no_task_imports_another():
    folders = [load_task(name).folder for name in TASKS]
    for folder in folders:
        for file in folder.rglob("*.py"):
            assert "tasks.suite." not in file.read_text(), file
