"""Undisturbed runs, each carried out once for all test processes."""

import fcntl
import hashlib
import os
import shutil

import pytest
from tests.support.quick_task import QUICK_TASK

from mlagentbench.experiment.experiment import Experiment
from mlagentbench.run.pipeline import run


@pytest.fixture(autouse=True)
def _quick_task_is_named(monkeypatch):
    """Name the task that most tests use, as a user does who resumes own runs."""
    monkeypatch.setenv("MLAB_TASK_PATH", str(QUICK_TASK))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, cache):
    """Carry out a plan the first time; return the experiment, which is read only."""
    own = tmp_path_factory.getbasetemp()
    top = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def finished(plan):
        asked = plan.model_dump_json(exclude={"out", "name"}).encode()
        out = top / "undisturbed" / hashlib.sha256(asked).hexdigest()[:16]
        out.mkdir(parents=True, exist_ok=True)
        with (out / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (out / "done").exists():
                run(plan.model_copy(update={"out": out, "name": "exp"}), cache=cache)
                (out / "done").touch()
        return Experiment(out / "exp", plan.named)

    return finished


@pytest.fixture
def copy_of(undisturbed, tmp_path):
    """Copy the undisturbed experiment of a plan, for a test that changes it."""

    def copied(plan):
        source = undisturbed(plan).folder
        return Experiment(shutil.copytree(source, tmp_path / "copy"), plan.named)

    return copied
