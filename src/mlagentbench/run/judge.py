"""Judging a submission: our grader on hostile data, in a child with caps.

The child sees the labels, so nothing of the agent's runs in it: it loads the task's
own `grade.py`, hands it two paths and prints one JSON line.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from mlagentbench.core.errors import GraderError
from mlagentbench.core.task import Task
from mlagentbench.evaluation.judgement import Verdict

SECONDS = 60
MEMORY_MB = 8192


async def judge(task: Task, answers: Path, truth: Path) -> Verdict:
    """Grade `answers` against `truth`; raise `GraderError` where the fault is ours."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.run.judge_child"),
        *(str(task.folder), task.edition, str(answers), str(truth), str(MEMORY_MB)),
        str(os.getpid()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, err = await child.communicate()
    except TimeoutError:
        return Verdict(submission_error=f"judging it took more than {SECONDS} s")
    finally:
        await _end(child)
    return _verdict(task, out, err, child.returncode)


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        child.kill()
        await child.wait()


def _verdict(task: Task, out: bytes, err: bytes, code: int | None) -> Verdict:
    try:
        said = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        said = {"grader_error": f"exit {code}: {err.decode(errors='replace')[-500:]}"}
    if "grader_error" in said:
        raise GraderError(f"the grader of {task.id} failed: {said['grader_error']}")
    return Verdict.model_validate(said)
