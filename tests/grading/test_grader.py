"""Grading is the same in a new process and in one forked from a server."""

import asyncio
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import GraderError
from mlagentbench.core.units import Aggregate, Units
from mlagentbench.grading.grader import (
    GraderPool,
    grade_answers,
    grade_once,
    shared_graders,
)
from mlagentbench.grading.grader_process import GradeRequest
from mlagentbench.tasks.load import load_task

SCRIPTED = """
import os, sys, time
from pathlib import Path
from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Graded
from mlagentbench.core.units import Aggregate, Units

calls = []

def grade(answers: Path, truth: Path) -> float | Graded:
    calls.append(answers)
    command = answers.read_text()
    if command == "refuse": raise SubmissionError("no such row")
    if command == "raise": raise KeyError("ours")
    if command == "units": return Graded(score=0.25, units=(0.0, 0.5))
    if command == "ratio": return Graded(score=0.4, units=Units(
        aggregate=Aggregate.RATIO, values=((1, 2), (1, 3)), clusters=(4, 9)))
    if command == "other units": return Graded(score=0.25, units=(0.0, 0.51))
    if command == "many units": return Graded(score=1 / 3, units=(1 / 3,) * 50_000)
    if command == "too many": return Graded(score=1 / 3, units=(1 / 3,) * 500_000)
    if command == "bad units": return Graded(score=0.25, units=(0.0, float("nan")))
    if command == "nan": return float("nan")
    if command == "memory": bytearray(2**40)
    if command == "exit": os._exit(3)
    if command == "quit": sys.exit(4)
    if command == "abort": sys.stderr.write("last words\\n"); os.abort()
    if command == "noise":
        for _ in range(3000): print("x" * 100); sys.stderr.write("y" * 100)
    if command == "sleep":
        (truth.parent / "pid").write_text(str(os.getpid())); time.sleep(60)
    if command == "threads": return float(os.environ["OMP_NUM_THREADS"])
    if command == "input": return float(len(sys.stdin.read()))
    if command == "calls": return float(len(calls))
    return 0.5
"""

COMMANDS = (
    *("score", "refuse", "raise", "nan", "memory", "exit", "quit", "abort"),
    *("noise", "threads", "input", "calls", "units", "bad units", "ratio"),
    *("other units", "many units", "too many"),
)


def task_with(folder: Path, grader: str):
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(load_task("house-price").folder, folder, ignore=skipped)
    (folder / "grade.py").write_text(grader)
    return load_task(folder)


def answers(folder: Path, text: str) -> Path:
    path = folder / f"{text}.txt"
    path.write_text(text)
    return path


async def outcome(task, folder, text):
    try:
        return await grade_answers(task, answers(folder, text), folder / "truth")
    except GraderError as error:
        return error


async def outcomes_of_new_processes(task, folder, commands=COMMANDS):
    return {text: await outcome(task, folder, text) for text in commands}


async def outcomes_of_forks(task, folder, commands=COMMANDS):
    async with shared_graders():
        found = [outcome(task, folder, text) for text in commands]
        return dict(zip(commands, await asyncio.gather(*found), strict=True))


BOTH_WAYS = [
    pytest.param(outcomes_of_new_processes, marks=pytest.mark.slow),
    outcomes_of_forks,
]


@pytest.fixture(scope="module", params=BOTH_WAYS)
def graded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    return asyncio.run(request.param(task_with(folder / "task", SCRIPTED), folder))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("score", 0.5),
        pytest.param("units", 0.25, id="a grader that also returns values per unit"),
        pytest.param("noise", 0.5, id="a grader that prints"),
        pytest.param("threads", 1.0, id="libraries compute with one thread"),
        pytest.param("input", 0.0, id="standard input is empty"),
        pytest.param("calls", 1.0, id="nothing of earlier gradings is seen"),
    ],
)
def test_the_score_of_the_grader_is_returned(graded, text, score):
    assert graded[text].score == score
    assert graded[text].submission_error is None


def test_units_are_passed_on_with_an_interval_of_the_score(graded):
    plain, ratio = graded["units"], graded["ratio"]
    assert plain.units == Units(values=((0.0,), (0.5,)))
    assert plain.score_ci == (0.0, 0.5)
    assert ratio.units.aggregate is Aggregate.RATIO
    assert ratio.units.clusters == (4, 9)
    assert len(graded["many units"].units.values) == 50_000
    assert graded["score"].units is None
    assert graded["score"].score_ci is None


def test_a_submission_error_or_too_much_memory_is_the_submissions_fault(graded):
    assert graded["refuse"].submission_error == "no such row"
    assert "more memory" in graded["memory"].submission_error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise", "KeyError: 'ours'"),
        ("nan", "not a finite number"),
        ("bad units", "finite number"),
        ("other units", "score is 0.25, but the mean of its units is 0.255"),
        ("too many", "more than 8 MB of units"),
        ("exit", "exit 3"),
        ("quit", "exit"),
        ("abort", "exit -6: .*last words"),
    ],
)
def test_any_other_failure_is_a_grader_error(graded, text, reason):
    assert isinstance(graded[text], GraderError)
    assert re.search(reason, str(graded[text]), re.DOTALL)


async def grade_in_pool(request):
    pool = GraderPool()
    try:
        return await pool.grade(request)
    finally:
        await pool.close()


@pytest.mark.parametrize("grade", [grade_once, grade_in_pool])
def test_a_grading_that_takes_too_long_is_killed(tmp_path, grade):
    task = task_with(tmp_path / "task", SCRIPTED)
    request = GradeRequest(
        folder=task.folder, edition=task.edition, seconds=3,
        answers=answers(tmp_path, "sleep"), truth=tmp_path / "truth",
    )  # fmt: skip
    reply = asyncio.run(grade(request))
    assert reply.late
    # On a busy machine it may be killed before it has written its number.
    pid = tmp_path / "pid"
    assert not pid.exists() or not is_alive(int(pid.read_text()))


@pytest.mark.parametrize("outcomes", BOTH_WAYS)
def test_a_grader_that_cannot_be_imported_is_a_grader_error(tmp_path, outcomes):
    task = task_with(tmp_path / "task", "raise RuntimeError('half done')\n")
    found = asyncio.run(outcomes(task, tmp_path, ["score"]))
    assert isinstance(found["score"], GraderError)
    assert "RuntimeError: half done" in str(found["score"])


def test_prints_while_a_grader_is_imported_do_not_change_its_score(tmp_path):
    task = task_with(tmp_path / "task", "print('ready')\n" + SCRIPTED)
    found = asyncio.run(outcomes_of_forks(task, tmp_path, ["score"]))
    assert found["score"].score == 0.5


def test_a_grader_that_starts_threads_runs_in_new_processes(tmp_path):
    threaded = (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        + SCRIPTED.replace("return 0.5", "return float(os.getppid())")
    )
    task = task_with(tmp_path / "task", threaded)

    found = asyncio.run(outcomes_of_forks(task, tmp_path, ["score"]))
    assert found["score"].score == os.getpid()


def test_a_killed_server_is_a_grader_error_and_the_next_grading_works(tmp_path):
    kill = "os.kill(os.getppid(), 9); time.sleep(60)"
    task = task_with(tmp_path / "task", SCRIPTED.replace("os._exit(3)", kill))

    async def grade():
        async with shared_graders():
            killed = await outcome(task, tmp_path, "exit")
            return killed, await outcome(task, tmp_path, "score")

    killed, after = asyncio.run(grade())
    assert "the grader server ended" in str(killed)
    assert after.score == 0.5


def test_leaving_early_leaves_no_process_behind(tmp_path):
    task = task_with(tmp_path / "task", SCRIPTED)

    async def grade():
        async with shared_graders():
            slow = asyncio.create_task(outcome(task, tmp_path, "sleep"))
            while not (tmp_path / "pid").exists():
                await asyncio.sleep(0.05)
            slow.cancel()

    asyncio.run(grade())
    assert not is_alive(int((tmp_path / "pid").read_text()))


def is_alive(pid: int) -> bool:
    """Return whether a process exists; a killed one may take a moment to go."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True
