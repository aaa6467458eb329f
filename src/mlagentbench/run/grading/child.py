"""The process that takes the turns: reads one request, prints one outcome."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mlagentbench.core.errors import BenchError, SandboxError, SubmissionError, blame
from mlagentbench.core.task import Grading
from mlagentbench.core.turns import Turns
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.run.grading.quiet import quietest_core
from mlagentbench.run.grading.request import Outcome, Request
from mlagentbench.run.grading.seat import Seat
from mlagentbench.run.grading.sitting import Sitting, starter_files
from mlagentbench.run.lifeline import die_with
from mlagentbench.run.places import rooms
from mlagentbench.tasks.atomic import only_one

LOCK = "timed-grading.lock"


def main(parent: int) -> None:
    """Answer the request on standard input."""
    die_with(parent)
    request = Request.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(_outcome(request).model_dump_json() + "\n")


def _outcome(request: Request) -> Outcome:
    try:
        with blame(SandboxError, "the grading sandbox failed"):
            return Outcome(turns=_turns(request))
    except SubmissionError as error:
        return Outcome(refused=str(error))
    except BenchError as error:
        return Outcome(broken=str(error))


def _turns(request: Request) -> Turns:
    task, grading = request.task, request.task.grading
    if grading is None:
        raise SandboxError(f"{task.id} does not say how submitted code is run")
    agent_env = ensure_agent_env(request.cache, grading.agent_env)
    with starter_files(task) as starter, _core_of_its_own(request, grading) as cores:
        place = rooms(request.cache)
        seat = Seat(task, grading, place, agent_env.path, cores, request.data)
        return asyncio.run(Sitting(request, seat, starter).hold())


@contextmanager
def _core_of_its_own(request: Request, grading: Grading) -> Iterator[tuple[int, ...]]:
    """Keep other timed gradings out, and keep all turns on one core."""
    if not grading.timed:
        yield ()
        return
    with only_one(request.cache / LOCK):
        yield (quietest_core(),)


if __name__ == "__main__":
    main(int(sys.argv[1]))
