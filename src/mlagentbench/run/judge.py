"""Judging a submission: our grader on hostile data, in a child with caps.

The child sees the labels, so nothing of the agent's runs in it: it calls the task's
own `grade.py` with two paths and prints one JSON line. It is either a fresh process, or
forked from one that has imported the grader before (`shared_judges`).
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

from mlagentbench.core.errors import GraderError
from mlagentbench.core.task import Task
from mlagentbench.evaluation.judgement import Verdict
from mlagentbench.run.judges.alone import hear_alone
from mlagentbench.run.judges.case import SECONDS, Case, Heard
from mlagentbench.run.judges.room import JudgeRoom

_ROOM: ContextVar[JudgeRoom | None] = ContextVar("judge_room", default=None)


async def judge(task: Task, answers: Path, truth: Path) -> Verdict:
    """Grade `answers` against `truth`; raise `GraderError` where the fault is ours."""
    case = Case(folder=task.folder, edition=task.edition, answers=answers, truth=truth)
    room = _ROOM.get()
    heard = await (hear_alone(case) if room is None else room.hear(case))
    if heard.late:
        return Verdict(submission_error=f"judging it took more than {SECONDS} s")
    return _verdict(task, heard)


@asynccontextmanager
async def shared_judges() -> AsyncIterator[None]:
    """Let all gradings inside share the work of importing their graders.

    Each is still judged in a process of its own, with caps of its own.
    """
    room = JudgeRoom()
    before = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(before)
        await room.close()


def _verdict(task: Task, heard: Heard) -> Verdict:
    try:
        said = json.loads(heard.out.splitlines()[-1])
    except (IndexError, ValueError):
        said = {"grader_error": f"exit {heard.code}: {heard.err[-500:]}"}
    if "grader_error" in said:
        raise GraderError(f"the grader of {task.id} failed: {said['grader_error']}")
    return Verdict.model_validate(said)
