"""Our side of the grader process: request, reply, time limit, pool.

The child sees the labels, so nothing of the agent's runs in it: it calls the task's
own `grade.py` with two paths and prints one JSON line. It is either a fresh process, or
forked from one that has imported the grader before (`shared_graders`).
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import cast

from mlagentbench.core.errors import GraderError
from mlagentbench.core.task import Task
from mlagentbench.evaluation.evaluate import Verdict
from mlagentbench.grading.grader_process import (
    LONGEST_LINE,
    READY,
    SECONDS,
    GradeRequest,
    GraderReply,
    quiet_environment,
)


class JudgeServer:
    """The harness's end of one server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._input = cast(asyncio.StreamWriter, process.stdin)
        self._output = cast(asyncio.StreamReader, process.stdout)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[GraderReply]] = {}
        self._listener = asyncio.create_task(self._listen())

    @property
    def gone(self) -> bool:
        """Whether it can hear no more cases."""
        return self._listener.done()

    async def hear(self, case: GradeRequest) -> GraderReply:
        """Have one case heard, beside those under way."""
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        line = case.model_copy(update={"number": number}).model_dump_json()
        try:
            self._input.write(line.encode() + b"\n")
            async with asyncio.timeout(case.seconds + _PATIENCE):
                return await self._waiting[number]
        except TimeoutError:
            raise GraderError("the judges' process does not answer") from None
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        """End it, and whatever it is hearing."""
        await end(self._process)
        await self._listener

    async def _listen(self) -> None:
        async for line in self._output:
            heard = GraderReply.model_validate_json(line)
            self._settle(heard.number, heard)
        code = await self._process.wait()
        gone = GraderError(f"the judges' process ended by itself, exit {code}")
        for number in [*self._waiting]:
            self._settle(number, gone)

    def _settle(self, number: int, what: GraderReply | GraderError) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.done():
            return
        if isinstance(what, GraderReply):
            waiting.set_result(what)
        else:
            waiting.set_exception(what)


class GraderPool:
    """Finds the server for each case; where there can be none, it is heard alone."""

    def __init__(self) -> None:
        self._servers: dict[tuple[Path, str], JudgeServer | None] = {}
        self._starting = asyncio.Lock()

    async def hear(self, case: GradeRequest) -> GraderReply:
        """Have one case heard."""
        server = await self._server(case)
        return await (grade_once(case) if server is None else server.hear(case))

    async def close(self) -> None:
        """End every server."""
        for server in self._servers.values():
            if server is not None:
                await server.close()

    async def _server(self, case: GradeRequest) -> JudgeServer | None:
        key = (case.folder, case.edition)
        async with self._starting:
            known = self._servers.get(key)
            if key not in self._servers or (known is not None and known.gone):
                self._servers[key] = await _started(case)
        return self._servers[key]


_ROOM: ContextVar[GraderPool | None] = ContextVar("judge_room", default=None)


async def grade_answers(task: Task, answers: Path, truth: Path) -> Verdict:
    """Grade `answers` against `truth`; raise `GraderError` where the fault is ours."""
    case = GradeRequest(
        folder=task.folder, edition=task.edition, answers=answers, truth=truth
    )
    room = _ROOM.get()
    heard = await (grade_once(case) if room is None else room.hear(case))
    if heard.late:
        return Verdict(submission_error=f"judging it took more than {SECONDS} s")
    return _verdict(task, heard)


@asynccontextmanager
async def shared_graders() -> AsyncIterator[None]:
    """Let all gradings inside share the work of importing their graders.

    Each is still judged in a process of its own, with caps of its own.
    """
    room = GraderPool()
    before = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(before)
        await room.close()


def _verdict(task: Task, heard: GraderReply) -> Verdict:
    try:
        said = json.loads(heard.out.splitlines()[-1])
    except (IndexError, ValueError):
        said = {"grader_error": f"exit {heard.code}: {heard.err[-500:]}"}
    if "grader_error" in said:
        raise GraderError(f"the grader of {task.id} failed: {said['grader_error']}")
    return Verdict.model_validate(said)


async def grade_once(case: GradeRequest) -> GraderReply:
    """Start a child, let it grade once, and end it where it takes too long."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.grading.grader_process", "once"),
        *(case.model_dump_json(), str(os.getpid())),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=quiet_environment(),
    )
    try:
        async with asyncio.timeout(case.seconds):
            out, err = await child.communicate()
    except TimeoutError:
        return GraderReply(late=True)
    finally:
        await end(child)
    return GraderReply(
        out=out.decode(errors="replace"),
        err=err.decode(errors="replace"),
        code=child.returncode,
    )


async def end(child: asyncio.subprocess.Process) -> None:
    """Kill a child that is still there."""
    if child.returncode is None:
        child.kill()
        await child.wait()


_PATIENCE = 30
"""Seconds beyond a case's own; only a server that hangs needs them."""


async def _started(case: GradeRequest) -> JudgeServer | None:
    """Start a server; None where its grader cannot be shared by forking."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.grading.grader_process", "serve"),
        *(str(case.folder), case.edition, str(os.getpid())),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
        env=quiet_environment(),
    )
    said = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(case.seconds):
            said = await cast(asyncio.StreamReader, process.stdout).readline()
    if said == READY:
        return JudgeServer(process)
    await end(process)
    return None
