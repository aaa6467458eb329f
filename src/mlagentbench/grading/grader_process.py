"""The process that sees labels: once, or forked from a warm one.

It sees no answers and no labels itself, only their paths, and never starts a thread:
a child of it is as good as a fresh process, without the time that imports take.
Cases come in by standard input, a line each; what was heard goes out the same way.
"""

import asyncio
import ctypes
import json
import math
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.record import Record
from mlagentbench.core.task import Grade, Graded
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.task_code import load_grade

SECONDS = 60
MEMORY_MB = 8192

READY = b"ready\n"
"""What a server of judges says before it can be asked."""
LONGEST_LINE = 2**20
"""Of those that go between the harness and a server."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class GradeRequest(Record):
    """One submission, and the labels it is judged by."""

    number: int = 0
    """Tells cases apart that are heard at the same time."""
    folder: Path
    """The task's."""
    edition: str
    answers: Path
    truth: Path
    memory_mb: int = MEMORY_MB
    seconds: float = SECONDS


class GraderReply(Record):
    """What a judge's child said before it ended."""

    number: int = 0
    out: str = ""
    """Its last line is the judgement, where it came that far."""
    err: str = ""
    code: int | None = None
    late: bool = False
    """Whether it was ended because it took too long."""


def quiet_environment() -> dict[str, str]:
    """Return our environment with one thread for every library that computes.

    Results do not depend on the number of cores then, and a process that has not
    started any thread may be forked.
    """
    return os.environ | dict.fromkeys(_ONE_THREAD, "1")


def run_once(arguments: list[str]) -> None:
    """Grade as told by the parent."""
    told, parent = arguments
    case = GradeRequest.model_validate_json(told)
    grade_request(
        case, lambda: grader_of(case.folder, case.edition), parent=int(parent)
    )


def grader_of(folder: Path, edition: str) -> Grade:
    """Import a task's grader."""
    return load_grade(load_task(folder, edition=edition))


def grade_request(
    case: GradeRequest, grader: Callable[[], Grade], *, parent: int
) -> None:
    """Grade within caps, and print what came of it; dies with `parent`."""
    exit_with_parent(parent)
    cap = case.memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = _grade(case, grader)
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def _grade(case: GradeRequest, grader: Callable[[], Grade]) -> dict[str, object]:
    try:
        graded = grader()(case.answers, case.truth)
        return _finite(graded.score if isinstance(graded, Graded) else graded)
    except SubmissionError as error:
        return {"submission_error": str(error)}
    except MemoryError:
        return {"submission_error": "judging it took more memory than a judge has"}
    except Exception as error:  # noqa: BLE001  # whatever a grader raises is its fault
        return {"grader_error": f"{type(error).__name__}: {error}"}


def _finite(score: float) -> dict[str, object]:
    if not math.isfinite(score):
        return {"grader_error": f"the score is {score}, not a finite number"}
    return {"score": float(score)}


_LONGEST_OUT = 65_536
_LONGEST_ERR = 2_000

Grader = Callable[[], Grade]


def serve_grades(arguments: list[str]) -> None:
    """Serve until the harness closes our input, or is gone."""
    folder, edition, parent = arguments
    exit_with_parent(int(parent))
    # What a grader prints while it is imported must not mix with our answers.
    wire = os.dup(1)
    os.dup2(2, 1)
    grader = _imported(Path(folder), edition)
    sys.stdout.flush()
    if len(list(Path("/proc/self/task").iterdir())) == 1:
        asyncio.run(_serve(grader, wire))


def _imported(folder: Path, edition: str) -> Grader:
    try:
        grade = grader_of(folder, edition)
    except Exception as error:  # noqa: BLE001  # every case is answered with it
        return _failing(error)
    return lambda: grade


def _failing(error: Exception) -> Grader:
    def fail() -> Grade:
        raise error

    return fail


async def _serve(grader: Grader, wire: int) -> None:
    cases, _ = await _stream(0)
    os.write(wire, READY)

    async def answer(case: GradeRequest) -> None:
        heard = await _hear(case, grader)
        _write(wire, heard.model_dump_json().encode() + b"\n")

    async with asyncio.TaskGroup() as hearings:
        async for line in cases:
            hearings.create_task(answer(GradeRequest.model_validate_json(line)))


async def _hear(case: GradeRequest, grader: Grader) -> GraderReply:
    (out, said), (err, cried) = os.pipe(), os.pipe()
    server = os.getpid()
    child = os.fork()
    if child == 0:
        _be_the_child(case, grader, (said, cried), server)
    os.close(said)
    os.close(cried)
    (outs, out_pipe), (errs, err_pipe) = await _stream(out), await _stream(err)
    late, texts = False, ("", "")
    try:
        async with asyncio.timeout(case.seconds):
            texts = await asyncio.gather(
                _tail(outs, _LONGEST_OUT), _tail(errs, _LONGEST_ERR)
            )
    except TimeoutError:
        late = True
    out_pipe.close()
    err_pipe.close()
    return GraderReply(
        number=case.number, out=texts[0], err=texts[1], code=_ended(child), late=late
    )


def _ended(child: int) -> int:
    # Whoever has closed both pipes is at its end, or has nothing more to say.
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _be_the_child(
    case: GradeRequest, grader: Grader, pipes: tuple[int, int], server: int
) -> NoReturn:
    """Hear one case with nothing of the server's but its imports."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, pipe in enumerate((nothing, *pipes)):
            os.dup2(pipe, number)
        os.closerange(3, 1024)
        grade_request(case, grader, parent=server)
        code = 0
    except BaseException:  # noqa: BLE001  # a fork must not go on as the server
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


def _write(wire: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(wire, rest) :]


_PR_SET_PDEATHSIG = 1


def exit_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent`, which started it, is gone."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    match sys.argv.pop(1):
        case "once":
            run_once(sys.argv[1:])
        case "serve":
            serve_grades(sys.argv[1:])
