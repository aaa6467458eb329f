"""Known solutions run through the pipeline, and their CPU time."""

import shutil

import pytest
from tests.borrowing import borrow
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver
from mlagentbench.core.scorecard import Level
from mlagentbench.run import measure
from mlagentbench.run.measure import PipelineBench, measure_task
from mlagentbench.tasks.check import checks
from mlagentbench.tasks.check.evidence import Subject
from mlagentbench.tasks.load import load_task, read_units, write_measured
from mlagentbench.tasks.prepare import prepare_task

LIMIT = 1.5
WAIT = "import time\ntime.sleep(2.5)\n"
COMPUTE = "import time\nwhile time.process_time() < 2.5:\n    pass\n"


@pytest.fixture
def check_reference(tmp_path, monkeypatch):
    """Check a reference that first runs `code`, with a limit of 1.5 CPU seconds."""
    monkeypatch.setattr(checks, "REFERENCE_SECONDS", LIMIT)
    cache = borrow(tmp_path / "cache", default_cache())
    monkeypatch.setattr(Subject, "improvement", lambda *_: 1.0)

    def check(code):
        folder = tmp_path / "quick"
        shutil.copytree(QUICK_TASK, folder)
        script = folder / "reference" / "train.py"
        script.write_text(code + script.read_text())
        task = load_task(folder)
        subject = Subject(
            task=task,
            prepared=prepare_task(task, cache),
            bench=PipelineBench(cache, NullObserver()),
            scratch=tmp_path,
        )
        return checks.reference_clears_the_bar(subject), subject.reference

    return check


@pytest.mark.slow
def test_reference_that_waits_longer_than_its_limit_passes(check_reference):
    verdict, attempt = check_reference(WAIT)
    assert verdict.ok, verdict.detail
    assert 0 < attempt.seconds < LIMIT


def test_reference_that_computes_longer_than_its_limit_fails(check_reference):
    verdict, attempt = check_reference(COMPUTE)
    assert "CPU s of 2" in verdict.detail
    assert attempt.seconds > LIMIT


@pytest.fixture(scope="module")
def measured_task(tmp_path_factory):
    """Measure a task whose grader returns units, with a tuner of three trials."""
    folder = tmp_path_factory.mktemp("measured") / "quick"
    shutil.copytree(QUICK_TASK, folder)
    grader = folder / "grade.py"
    text = grader.read_text()
    last = "    return mean_absolute_error("
    assert text.count(last) == 1
    grader.write_text(
        text.replace(last, "    score = mean_absolute_error(").replace("-> float", "")
        + "    from mlagentbench.core.task import Graded\n"
        "    misses = (abs(guessed[row][0] - actual[row]) for row in actual)\n"
        "    return Graded(score=score, units=tuple(misses))\n"
    )
    cache = borrow(tmp_path_factory.mktemp("cache"), default_cache())
    bench = PipelineBench(cache, NullObserver())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "TUNED_RUNS", 2)
        patch.setitem(measure._AGENTS, "tuned", ("tuner", {"trials": "3"}))
        task = load_task(folder)
        found = measure_task(task, bench, runs=2, parallel=1)
        write_measured(folder, task.edition, found)
        yield load_task(folder), bench


@pytest.mark.slow
def test_starter_tuner_and_reference_are_measured_with_validation(measured_task):
    measured = measured_task[0].measured
    for known in (measured.starter, measured.tuned, measured.reference):
        assert (known.n, len(known.scores), len(known.validation)) == (2, 2, 2)
    assert measured.reference.mean < measured.tuned.mean <= measured.starter.mean
    assert measured.reference.validation < measured.starter.validation


@pytest.mark.slow
def test_units_of_measured_runs_are_stored_and_runs_are_compared_with_them(
    measured_task,
):
    task, bench = measured_task
    stored = read_units(task.folder, task.edition)
    assert {name: len(runs) for name, runs in stored.items()} == {
        "starter": 2, "reference": 2, "tuned": 2,
    }  # fmt: skip
    solved = bench.solve_all(task, "reference", (5,), parallel=1)[0]
    assert len(solved.units.values) == len(stored["starter"][0].values)
    low, high = solved.card.improvement_ci
    assert low < solved.card.improvement < high
    assert solved.card.score_ci[0] < solved.card.score < solved.card.score_ci[1]
    assert solved.card.validation_queries == 1
    assert solved.card.level is Level.GOLD
