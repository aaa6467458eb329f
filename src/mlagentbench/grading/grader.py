"""The harness's side of the grader process: request, reply, time limit, pool.

The child sees the labels, so it runs nothing of the agent's: it calls the task's own
`grade.py` with two paths and prints one JSON line. It is either a new process, or
forked from one that has imported the grader before (`shared_graders`).
"""

import asyncio
import contextlib
import itertools
import json
import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import cast

from mlagentbench.core import GraderError, Task, child_command, kill_child, run_child
from mlagentbench.evaluation import Verdict, aggregate, units_interval
from mlagentbench.grading.grader_process import (
    LONGEST_LINE,
    READY,
    SECONDS,
    GradeRequest,
    GraderReply,
    one_thread_environment,
)

logger = logging.getLogger(__name__)

_PROCESS = "mlagentbench.grading.grader_process"
_SAME = 1e-9
"""How near, relatively, the score of the units must be to the score."""
_GRACE = 30
"""Seconds beyond a request's own; only a server that hangs needs them."""


async def grade_answers(task: Task, answers: Path, truth: Path) -> Verdict:
    """Grade `answers` against `truth`; raise `GraderError` if the grader fails."""
    request = GradeRequest(
        folder=task.folder, edition=task.edition, answers=answers, truth=truth
    )
    pool = _POOL.get()
    reply = await (grade_once(request) if pool is None else pool.grade(request))
    if reply.late:
        return Verdict(submission_error=f"judging it took more than {SECONDS} s")
    try:
        outcome = json.loads(reply.out.splitlines()[-1])
    except (IndexError, ValueError):
        outcome = {"grader_error": f"exit {reply.code}: {reply.err[-500:]}"}
    if "grader_error" in outcome:
        raise GraderError(f"the grader of {task.id} failed: {outcome['grader_error']}")
    return await asyncio.to_thread(_with_interval, task, Verdict(**outcome))


def _with_interval(task: Task, verdict: Verdict) -> Verdict:
    """Add the interval of a score that has units, which must have the same score."""
    if verdict.score is None or verdict.units is None:
        return verdict
    found = aggregate(verdict.units)
    if not math.isclose(found, verdict.score, rel_tol=_SAME, abs_tol=_SAME):
        raise GraderError(
            f"the grader of {task.id} failed: its score is {verdict.score}, but the"
            f" {verdict.units.aggregate} of its units is {found}"
        )
    return verdict.model_copy(update={"score_ci": units_interval(verdict.units)})


async def grade_once(request: GradeRequest) -> GraderReply:
    """Grade in a new process, which is killed if it takes too long."""
    try:
        child = await run_child(
            _PROCESS,
            "once",
            request=request,
            seconds=request.seconds,
            env=one_thread_environment(),
        )
    except TimeoutError:
        return GraderReply(late=True)
    return GraderReply(
        out=child.out.decode(errors="replace"),
        err=child.err.decode(errors="replace"),
        code=child.code,
    )


@asynccontextmanager
async def shared_graders() -> AsyncIterator[None]:
    """Let all gradings inside share the work of importing their graders.

    Each still has a process and limits of its own.
    """
    pool = GraderPool()
    before = _POOL.set(pool)
    try:
        yield
    finally:
        _POOL.reset(before)
        await pool.close()


class GraderPool:
    """One server per task; a task that can have none is graded in new processes."""

    def __init__(self) -> None:
        self._servers: dict[tuple[Path, str], _GraderServer | None] = {}
        self._starting = asyncio.Lock()

    async def grade(self, request: GradeRequest) -> GraderReply:
        """Grade with the task's server, which is started if there is none."""
        key = (request.folder, request.edition)
        async with self._starting:
            known = self._servers.get(key)
            if key not in self._servers or (known is not None and known.gone):
                self._servers[key] = await _start_server(request)
        server = self._servers[key]
        return await (grade_once(request) if server is None else server.grade(request))

    async def close(self) -> None:
        for server in self._servers.values():
            if server is not None:
                await server.close()


_POOL: ContextVar[GraderPool | None] = ContextVar("grader_pool", default=None)


class _GraderServer:
    """The harness's end of a process that forks one grader per request."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[GraderReply]] = {}
        self._listener = asyncio.create_task(self._listen())

    @property
    def gone(self) -> bool:
        return self._listener.done()

    async def grade(self, request: GradeRequest) -> GraderReply:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        line = request.model_copy(update={"number": number}).model_dump_json()
        try:
            cast(asyncio.StreamWriter, self._process.stdin).write(line.encode() + b"\n")
            async with asyncio.timeout(request.seconds + _GRACE):
                return await self._waiting[number]
        except TimeoutError:
            raise GraderError("the grader server does not answer") from None
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        await kill_child(self._process)
        await self._listener

    async def _listen(self) -> None:
        async for line in cast(asyncio.StreamReader, self._process.stdout):
            reply = GraderReply.model_validate_json(line)
            waiting = self._waiting.get(reply.number)
            if waiting is not None and not waiting.done():
                waiting.set_result(reply)
        code = await self._process.wait()
        logger.info("the grader server %d ended, exit %d", self._process.pid, code)
        for waiting in self._waiting.values():
            if not waiting.done():
                ended = GraderError(
                    f"the grader server ended unexpectedly, exit {code}"
                )
                waiting.set_exception(ended)


async def _start_server(request: GradeRequest) -> _GraderServer | None:
    """Start a server; None if the task's grader cannot be shared by forking."""
    process = await asyncio.create_subprocess_exec(
        *child_command(_PROCESS, "serve", str(request.folder), request.edition),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
        env=one_thread_environment(),
    )
    first_line = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(request.seconds):
            output = cast(asyncio.StreamReader, process.stdout)
            first_line = await output.readline()
    if first_line == READY:
        logger.debug("grader server %d of %s", process.pid, request.folder)
        return _GraderServer(process)
    logger.info("%s cannot be graded by forking", request.folder)
    await kill_child(process)
    return None
