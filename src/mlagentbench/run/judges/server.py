"""A process that imports one grader and forks a capped child for every case.

It sees no answers and no labels itself, only their paths, and never starts a thread:
a child of it is as good as a fresh process, without the time that imports take.
Cases come in by standard input, a line each; what was heard goes out the same way.
"""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mlagentbench.core.task import Grade
from mlagentbench.run.judges.case import LONGEST_LINE, READY, Case, Heard
from mlagentbench.run.judges.child import grader_of, hear
from mlagentbench.run.lifeline import die_with

_LONGEST_OUT = 65_536
_LONGEST_ERR = 2_000

Grader = Callable[[], Grade]


def main(arguments: list[str]) -> None:
    """Serve until the harness closes our input, or is gone."""
    folder, edition, parent = arguments
    die_with(int(parent))
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

    async def answer(case: Case) -> None:
        heard = await _hear(case, grader)
        _write(wire, heard.model_dump_json().encode() + b"\n")

    async with asyncio.TaskGroup() as hearings:
        async for line in cases:
            hearings.create_task(answer(Case.model_validate_json(line)))


async def _hear(case: Case, grader: Grader) -> Heard:
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
    return Heard(
        number=case.number, out=texts[0], err=texts[1], code=_ended(child), late=late
    )


def _ended(child: int) -> int:
    # Whoever has closed both pipes is at its end, or has nothing more to say.
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _be_the_child(
    case: Case, grader: Grader, pipes: tuple[int, int], server: int
) -> NoReturn:
    """Hear one case with nothing of the server's but its imports."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, pipe in enumerate((nothing, *pipes)):
            os.dup2(pipe, number)
        os.closerange(3, 1024)
        hear(case, grader, parent=server)
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


if __name__ == "__main__":
    main(sys.argv[1:])
