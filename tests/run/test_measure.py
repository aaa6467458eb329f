"""Known solutions run through the pipeline, and their CPU time."""

import shutil

import pytest
from tests.borrowing import borrow
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver
from mlagentbench.run.measure import PipelineBench
from mlagentbench.tasks.check import checks
from mlagentbench.tasks.check.evidence import Subject
from mlagentbench.tasks.load import load_task
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


def test_reference_that_waits_longer_than_its_limit_passes(check_reference):
    verdict, attempt = check_reference(WAIT)
    assert verdict.ok, verdict.detail
    assert 0 < attempt.seconds < LIMIT


def test_reference_that_computes_longer_than_its_limit_fails(check_reference):
    verdict, attempt = check_reference(COMPUTE)
    assert "CPU s of 2" in verdict.detail
    assert attempt.seconds > LIMIT
