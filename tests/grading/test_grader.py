"""Judging is the same in a fresh process and in one forked from a warm one."""

import asyncio
import os
import re
import shutil
import signal
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

OBEDIENT = """
import os, sys, time
from pathlib import Path
from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Graded

calls = []

def grade(answers: Path, truth: Path) -> float | Graded:
    calls.append(answers)
    wish = answers.read_text()
    if wish == "refuse": raise SubmissionError("no such row")
    if wish == "raise": raise KeyError("ours")
    if wish == "units": return Graded(score=0.25, units=(0.0, 0.5))
    if wish == "bad units": return Graded(score=0.25, units=(0.0, float("nan")))
    if wish == "nan": return float("nan")
    if wish == "memory": bytearray(2**40)
    if wish == "exit": os._exit(3)
    if wish == "quit": sys.exit(4)
    if wish == "cry": sys.stderr.write("last words\\n"); os.abort()
    if wish == "noise":
        for _ in range(3000): print("x" * 100); sys.stderr.write("y" * 100)
    if wish == "sleep":
        (truth.parent / "pid").write_text(str(os.getpid())); time.sleep(60)
    if wish == "threads": return float(os.environ["OMP_NUM_THREADS"])
    if wish == "input": return float(len(sys.stdin.read()))
    if wish == "calls": return float(len(calls))
    return 0.5
"""

WISHES = (
    *("score", "refuse", "raise", "nan", "memory", "exit", "quit", "cry"),
    *("noise", "threads", "input", "calls", "units", "bad units"),
)


def task_with(folder: Path, grader: str):
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(load_task("house-price").folder, folder, ignore=skipped)
    (folder / "grade.py").write_text(grader)
    return load_task(folder)


def wish(folder: Path, text: str) -> Path:
    path = folder / f"{text}.txt"
    path.write_text(text)
    return path


async def outcome(task, folder, text):
    try:
        return await grade_answers(task, wish(folder, text), folder / "truth")
    except GraderError as error:
        return error


async def outcomes_alone(task, folder):
    return {text: await outcome(task, folder, text) for text in WISHES}


async def outcomes_shared(task, folder):
    async with shared_graders():
        found = [outcome(task, folder, text) for text in WISHES]
        return dict(zip(WISHES, await asyncio.gather(*found), strict=True))


@pytest.fixture(scope="module", params=[outcomes_alone, outcomes_shared])
def judged(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    return asyncio.run(request.param(task_with(folder / "task", OBEDIENT), folder))


def test_a_score_is_a_score(judged):
    assert judged["score"].score == 0.5
    assert judged["score"].submission_error is None


def test_score_of_a_grader_that_also_returns_values_per_unit_is_used(judged):
    assert judged["units"].score == 0.25


def test_what_the_grader_refuses_is_the_agents_fault(judged):
    assert judged["refuse"].submission_error == "no such row"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise", "KeyError: 'ours'"),
        ("nan", "not a finite number"),
        ("bad units", "finite number"),
        ("exit", "exit 3"),
        ("quit", "exit"),
        ("cry", "exit -6: .*last words"),
    ],
)
def test_whatever_else_goes_wrong_is_our_fault(judged, text, reason):
    assert isinstance(judged[text], GraderError)
    assert re.search(reason, str(judged[text]), re.DOTALL)


def test_too_much_memory_is_the_submissions_fault(judged):
    assert "more memory" in judged["memory"].submission_error


def test_what_a_grader_prints_does_no_harm(judged):
    assert judged["noise"].score == 0.5


def test_libraries_compute_with_one_thread(judged):
    assert judged["threads"].score == 1.0


def test_there_is_nothing_to_read_from_standard_input(judged):
    assert judged["input"].score == 0.0


def test_a_grading_sees_nothing_of_those_before_it(judged):
    assert judged["calls"].score == 1.0


async def _heard(how, case):
    if how == "alone":
        return await grade_once(case)
    pool = GraderPool()
    try:
        return await pool.grade(case)
    finally:
        await pool.close()


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_grading_that_takes_too_long_is_ended(tmp_path, how):
    task = task_with(tmp_path / "task", OBEDIENT)
    case = GradeRequest(
        folder=task.folder, edition=task.edition, seconds=3,
        answers=wish(tmp_path, "sleep"), truth=tmp_path / "truth",
    )  # fmt: skip
    heard = asyncio.run(_heard(how, case))
    assert heard.late
    assert not is_alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_grader_that_cannot_be_imported_is_our_fault(tmp_path, how):
    task = task_with(tmp_path / "task", "raise RuntimeError('half done')\n")

    async def judging():
        if how == "alone":
            return await outcome(task, tmp_path, "score")
        async with shared_graders():
            return await outcome(task, tmp_path, "score")

    assert "RuntimeError: half done" in str(asyncio.run(judging()))


def test_a_grader_that_prints_while_it_is_imported_does_no_harm(tmp_path):
    task = task_with(tmp_path / "task", "print('ready')\n" + OBEDIENT)
    found = asyncio.run(outcomes_shared(task, tmp_path))
    assert found["score"].score == 0.5


def test_a_grader_that_starts_threads_is_judged_in_fresh_processes(tmp_path):
    threaded = (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        + OBEDIENT.replace("return 0.5", "return float(os.getppid())")
    )
    task = task_with(tmp_path / "task", threaded)

    async def judging():
        async with shared_graders():
            return await grade_answers(
                task, wish(tmp_path, "score"), tmp_path / "truth"
            )

    assert asyncio.run(judging()).score == os.getpid()


def test_when_the_shared_process_is_killed_its_cases_are_ours_and_the_next_is_heard(
    tmp_path,
):
    parent = OBEDIENT.replace('if wish == "exit": os._exit(3)', KILL_THE_SERVER)
    task = task_with(tmp_path / "task", parent)

    async def judging():
        async with shared_graders():
            killed = await outcome(task, tmp_path, "exit")
            return killed, await outcome(task, tmp_path, "score")

    killed, after = asyncio.run(judging())
    assert "the grader server ended" in str(killed)
    assert after.score == 0.5


def test_leaving_early_leaves_no_process_behind(tmp_path):
    task = task_with(tmp_path / "task", OBEDIENT)

    async def judging():
        async with shared_graders():
            slow = asyncio.create_task(outcome(task, tmp_path, "sleep"))
            while not (tmp_path / "pid").exists():
                await asyncio.sleep(0.05)
            slow.cancel()

    asyncio.run(judging())
    assert not is_alive(int((tmp_path / "pid").read_text()))


KILL_THE_SERVER = (
    f'if wish == "exit": os.kill(os.getppid(), {int(signal.SIGKILL)}); time.sleep(60)'
)


def is_alive(pid: int) -> bool:
    """Tell whether a process still is; one that was killed may take a moment."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True
