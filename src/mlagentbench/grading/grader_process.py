"""The process that sees labels: run once, or forked from a server.

The server sees no answers and no labels itself, only their paths, and never starts a
thread: a fork of it is as good as a new process, without the time that imports take.
Requests come in by standard input, a line each; replies go out the same way.
"""

import asyncio
import json
import math
import os
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from mlagentbench.core import (
    Grade,
    Graded,
    Record,
    SubmissionError,
    Units,
    exit_with_parent,
    read_request,
    reserve_stdout,
)
from mlagentbench.tasks import load_grade, load_task

SECONDS = 60
MEMORY_MB = 8192

READY = b"ready\n"
"""The first line of a server, printed when it can take requests."""
LONGEST_LINE = 2**26
"""Of those that go between the harness and a server."""

_LONGEST_OUT = 2**24
"""Bytes of a grader's output, which ends with the score and its units."""
_LONGEST_ERR = 2_000
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class GradeRequest(Record):
    """One submission, and the labels it is graded by."""

    number: int = 0
    """Tells apart requests that a server works on at the same time."""
    folder: Path
    """The task's."""
    edition: str
    answers: Path
    truth: Path
    memory_mb: int = MEMORY_MB
    seconds: float = SECONDS


class GraderReply(Record):
    """The output of one grading."""

    number: int = 0
    out: str = ""
    """Its last line is the outcome, if the grading came that far."""
    err: str = ""
    code: int | None = None
    late: bool = False
    """Whether it was killed because it took too long."""


def one_thread_environment() -> dict[str, str]:
    """Return our environment with one thread for every library that computes.

    Results do not depend on the number of cores then, and a process that has not
    started any thread may be forked.
    """
    return os.environ | dict.fromkeys(_ONE_THREAD, "1")


def _load_grader(folder: Path, edition: str) -> Grade:
    return load_grade(load_task(folder, edition=edition))


def _print_grade(request: GradeRequest, grade: Grade | None) -> None:
    """Grade within limits of memory and print the outcome."""
    # Windows has no such module, and commands that only read must start there.
    import resource

    limit = request.memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    outcome: dict[str, object]
    try:
        grade = grade or _load_grader(request.folder, request.edition)
        graded = grade(request.answers, request.truth)
        outcome = _outcome(
            graded if isinstance(graded, Graded) else Graded(score=graded)
        )
    except SubmissionError as error:
        outcome = {"submission_error": str(error)}
    except MemoryError:
        outcome = {"submission_error": "judging it took more memory than a judge has"}
    except Exception as error:  # noqa: BLE001  # whatever a grader raises is its fault
        outcome = {"grader_error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(outcome) + "\n")
    sys.stdout.flush()


def _outcome(graded: Graded) -> dict[str, object]:
    score, units = graded.score, graded.units
    if not math.isfinite(score):
        return {"grader_error": f"the score is {score}, not a finite number"}
    if units is None:
        return {"score": score}
    if not isinstance(units, Units):
        units = Units(values=tuple((value,) for value in units))
    written = units.model_dump(mode="json")
    if len(json.dumps(written)) > _LONGEST_OUT // 2:
        return {"grader_error": "it returns more than 8 MB of units; return fewer"}
    return {"score": score, "units": written}


def _serve(folder: Path, edition: str, parent: int) -> None:
    """Serve until the harness closes standard input or ends."""
    exit_with_parent(parent)
    replies = reserve_stdout()
    grade = None
    # After a failure every fork imports the grader again, and replies why it cannot.
    with suppress(Exception):
        grade = _load_grader(folder, edition)
    sys.stdout.flush()
    # A process with more than one thread must not be forked.
    if len(list(Path("/proc/self/task").iterdir())) == 1:
        asyncio.run(_reply_to_all(grade, replies))


async def _reply_to_all(grade: Grade | None, replies: int) -> None:
    requests, _ = await _stream(0)
    os.write(replies, READY)

    async def reply(request: GradeRequest) -> None:
        found = await _grade_in_fork(request, grade)
        rest = memoryview(found.model_dump_json().encode() + b"\n")
        while rest:
            rest = rest[os.write(replies, rest) :]

    async with asyncio.TaskGroup() as gradings:
        async for line in requests:
            gradings.create_task(reply(GradeRequest.model_validate_json(line)))


async def _grade_in_fork(request: GradeRequest, grade: Grade | None) -> GraderReply:
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    server = os.getpid()
    child = os.fork()
    if child == 0:
        _run_fork(request, grade, (out_end, err_end), server)
    os.close(out_end)
    os.close(err_end)
    (outs, out_pipe), (errs, err_pipe) = await _stream(out), await _stream(err)
    late, texts = False, ("", "")
    try:
        async with asyncio.timeout(request.seconds):
            texts = await asyncio.gather(
                _tail(outs, _LONGEST_OUT), _tail(errs, _LONGEST_ERR)
            )
    except TimeoutError:
        late = True
    out_pipe.close()
    err_pipe.close()
    # It is late, or has closed both pipes: it has finished or can send nothing more.
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return GraderReply(
        number=request.number,
        out=texts[0],
        err=texts[1],
        code=os.waitstatus_to_exitcode(status),
        late=late,
    )


def _run_fork(
    request: GradeRequest, grade: Grade | None, pipes: tuple[int, int], server: int
) -> NoReturn:
    """Grade with nothing of the server's but its imports."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, pipe in enumerate((nothing, *pipes)):
            os.dup2(pipe, number)
        os.closerange(3, 1024)
        exit_with_parent(server)
        _print_grade(request, grade)
        code = 0
    except BaseException:  # noqa: BLE001  # a fork must not continue as the server
        traceback.print_exc()
    finally:
        os._exit(code)


async def _stream(pipe: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader),
        os.fdopen(pipe, "rb", buffering=0),
    )
    return reader, transport


async def _tail(stream: asyncio.StreamReader, longest: int) -> str:
    kept = b""
    while more := await stream.read(longest):
        kept = (kept + more)[-longest:]
    return kept.decode(errors="replace")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["once", _]:
            _print_grade(read_request(GradeRequest), None)
        case ["serve", folder, edition, parent]:
            _serve(Path(folder), edition, int(parent))
