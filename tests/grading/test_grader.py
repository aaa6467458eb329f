"""Grading is the same in a new process and in one forked from a server."""

import asyncio
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import GraderError
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

calls = []

def grade(answers: Path, truth: Path) -> float | Graded:
    calls.append(answers)
    command = answers.read_text()
    if command == "refuse": raise SubmissionError("no such row")
    if command == "raise": raise KeyError("ours")
    if command == "units": return Graded(score=0.25, units=(0.0, 0.5))
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
    *("noise", "threads", "input", "calls", "units", "bad units"),
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


async def outcomes_of_new_processes(task, folder):
    return {text: await outcome(task, folder, text) for text in COMMANDS}


async def outcomes_of_forks(task, folder):
    async with shared_graders():
        found = [outcome(task, folder, text) for text in COMMANDS]
        return dict(zip(COMMANDS, await asyncio.gather(*found), strict=True))


@pytest.fixture(scope="module", params=[outcomes_of_new_processes, outcomes_of_forks])
def graded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graded")
    return asyncio.run(request.param(task_with(folder / "task", SCRIPTED), folder))


def test_a_score_is_returned(graded):
    assert graded["score"].score == 0.5
    assert graded["score"].submission_error is None


def test_score_of_a_grader_that_also_returns_values_per_unit_is_used(graded):
    assert graded["units"].score == 0.25


def test_a_submission_error_is_the_agents_fault(graded):
    assert graded["refuse"].submission_error == "no such row"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise", "KeyError: 'ours'"),
        ("nan", "not a finite number"),
        ("bad units", "finite number"),
        ("exit", "exit 3"),
        ("quit", "exit"),
        ("abort", "exit -6: .*last words"),
    ],
)
def test_any_other_failure_is_a_grader_error(graded, text, reason):
    assert isinstance(graded[text], GraderError)
    assert re.search(reason, str(graded[text]), re.DOTALL)


def test_too_much_memory_is_the_submissions_fault(graded):
    assert "more memory" in graded["memory"].submission_error


def test_prints_of_a_grader_do_not_change_its_score(graded):
    assert graded["noise"].score == 0.5


def test_libraries_compute_with_one_thread(graded):
    assert graded["threads"].score == 1.0


def test_there_is_nothing_to_read_from_standard_input(graded):
    assert graded["input"].score == 0.0


def test_a_grading_sees_nothing_of_those_before_it(graded):
    assert graded["calls"].score == 1.0


async def _grade(how, request):
    if how == "alone":
        return await grade_once(request)
    pool = GraderPool()
    try:
        return await pool.grade(request)
    finally:
        await pool.close()


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_grading_that_takes_too_long_is_killed(tmp_path, how):
    task = task_with(tmp_path / "task", SCRIPTED)
    request = GradeRequest(
        folder=task.folder, edition=task.edition, seconds=3,
        answers=answers(tmp_path, "sleep"), truth=tmp_path / "truth",
    )  # fmt: skip
    reply = asyncio.run(_grade(how, request))
    assert reply.late
    # On a busy machine it may be killed before it has written its number.
    pid = tmp_path / "pid"
    assert not pid.exists() or not is_alive(int(pid.read_text()))


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_grader_that_cannot_be_imported_is_a_grader_error(tmp_path, how):
    task = task_with(tmp_path / "task", "raise RuntimeError('half done')\n")

    async def grade():
        if how == "alone":
            return await outcome(task, tmp_path, "score")
        async with shared_graders():
            return await outcome(task, tmp_path, "score")

    assert "RuntimeError: half done" in str(asyncio.run(grade()))


def test_prints_while_a_grader_is_imported_do_not_change_its_score(tmp_path):
    task = task_with(tmp_path / "task", "print('ready')\n" + SCRIPTED)
    found = asyncio.run(outcomes_of_forks(task, tmp_path))
    assert found["score"].score == 0.5


def test_a_grader_that_starts_threads_runs_in_new_processes(tmp_path):
    threaded = (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        + SCRIPTED.replace("return 0.5", "return float(os.getppid())")
    )
    task = task_with(tmp_path / "task", threaded)

    async def grade():
        async with shared_graders():
            return await grade_answers(
                task, answers(tmp_path, "score"), tmp_path / "truth"
            )

    assert asyncio.run(grade()).score == os.getpid()


def test_a_killed_server_is_a_grader_error_and_the_next_grading_works(
    tmp_path,
):
    parent = SCRIPTED.replace('if command == "exit": os._exit(3)', KILL_THE_SERVER)
    task = task_with(tmp_path / "task", parent)

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


KILL_THE_SERVER = 'if command == "exit": os.kill(os.getppid(), 9); time.sleep(60)'


def is_alive(pid: int) -> bool:
    """Return whether a process exists; a killed one may take a moment to go."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True
