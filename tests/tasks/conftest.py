import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.borrowing import borrow

from mlagentbench.core.cache import default_cache
from mlagentbench.core.errors import GraderError
from mlagentbench.core.task import Task
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.tasks.check.evidence import Attempt, Solution, Subject
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import load_task, read_measured, write_measured
from mlagentbench.tasks.prepare import Prepared, prepare_task
from mlagentbench.tasks.sources import ARCHIVES, fetch

GRADER = """
import json, sys
from pathlib import Path
from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.task_code import load_grade
folder, edition, answers, truth = sys.argv[1:]
grade = load_grade(load_task(Path(folder), edition=edition))
try:
    found = grade(Path(answers), Path(truth))
    said = {"score": getattr(found, "score", found), "error": None}
except SubmissionError as error:
    said = {"score": None, "error": str(error)}
print(json.dumps(said))
"""


class PlainBench:
    """Runs solutions as plain processes: enough to examine a task we trust."""

    def __init__(self, scratch: Path, python: Path) -> None:
        self.scratch = scratch
        self.python = python

    def solve(
        self, task: Task, prepared: Prepared, solution: Solution, seed: int
    ) -> Attempt:
        workspace = self.scratch / f"{solution}-{seed}"
        shutil.copytree(task.folder / solution, workspace)
        shutil.copytree(prepared.public, workspace, dirs_exist_ok=True)
        shutil.copy(task.folder / "metric.py", workspace / "evaluate.py")
        began = time.monotonic()
        done = subprocess.run(
            [self.python, task.script],
            cwd=workspace,
            env=os.environ | {"MLAB_SEED": str(seed), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        seconds = time.monotonic() - began
        if done.returncode != 0:
            reason = done.stderr.strip().splitlines()[-1]
            return Attempt(score=None, error=reason, seconds=seconds)
        found = self.grade(
            task, workspace / task.submission[0], prepared.private / task.truth
        )
        return found.model_copy(update={"seconds": seconds})

    def grade(self, task: Task, answers: Path, truth: Path) -> Attempt:
        done = subprocess.run(
            [sys.executable, "-c", GRADER, task.folder, task.edition, answers, truth],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise GraderError(done.stderr.strip().splitlines()[-1])
        return Attempt(**json.loads(done.stdout), seconds=0.0)


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    """A cache that tests may spoil; what they did not change is borrowed."""
    return borrow(tmp_path_factory.mktemp("tasks") / "cache", default_cache())


@pytest.fixture(scope="session")
def archives(cache) -> Path:
    """The archives folder with house-price's archive in it."""
    fetch(load_task("house-price"), cache)
    return cache / ARCHIVES


@pytest.fixture
def own_cache(tmp_path, archives) -> Path:
    """A cache for one test, into which the archive was put by hand."""
    shutil.copytree(
        archives, tmp_path / "own" / ARCHIVES, ignore=shutil.ignore_patterns(".*")
    )
    return tmp_path / "own"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of house-price's folder, to be spoiled."""
    copy = tmp_path / "task"
    source = load_task("house-price").folder
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def edit(folder):
    """Replace a piece of text in the copied folder that must be there."""

    def replace(name: str, old: str, new: str) -> None:
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return replace


@pytest.fixture
def bench(tmp_path, cache) -> PlainBench:
    agent_env = ensure_agent_env(cache, "base")
    return PlainBench(tmp_path / "bench", agent_env.path / "bin" / "python")


@pytest.fixture
def examine(folder, cache, archives, bench, tmp_path):
    """Put the copied folder under examination, its measurements signed again."""

    def subject() -> Subject:
        measured = read_measured(folder)["mini"]
        signed = measured.model_copy(update={"digest": task_digest(folder, "mini")})
        write_measured(folder, "mini", signed)
        task = load_task(folder)
        return Subject(
            task=task,
            prepared=prepare_task(task, cache),
            bench=bench,
            scratch=tmp_path / "scratch",
        )

    return subject
