"""Processes in which submitted code runs: each is given one job and ends with it.

They are started before anything of the submission is read, so that a job is all that a
worker ever learns: not what the other jobs are, nor which of them it has. Nothing
in its memory or among its open files leads to the process that hands out the jobs.
"""

import ctypes
import os
import traceback
from collections.abc import Callable, Iterable
from typing import NamedTuple

Work = Callable[[list[bytes]], bytes]

_SET_DUMPABLE = 4
_JOB, _RESULT = 3, 4
_LENGTH_BYTES = 8
_MOST_OPEN_FILES = 65_536
_LARGEST = 64 * 2**20


class Worker(NamedTuple):
    """A process that waits for its job."""

    pid: int
    job: int
    """Where to write it."""
    result: int
    """Where to read what came out."""

    def do(self, parts: Iterable[bytes]) -> bytes:
        """Hand over the job and wait; if it fails, its last words are ours."""
        with os.fdopen(self.job, "wb") as job:
            for part in parts:
                job.write(len(part).to_bytes(_LENGTH_BYTES, "big") + part)
        with os.fdopen(self.result, "rb") as result:
            found = result.read(_LARGEST)
        _, status = os.waitpid(self.pid, 0)
        if status != 0:
            os._exit(1)
        return found


def start(count: int, work: Work) -> list[Worker]:
    """Start workers that all do the same kind of work."""
    # Not even processes of the same user may look into one another from here on.
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    return [_start(work) for _ in range(count)]


def _start(work: Work) -> Worker:
    job_out, job_in = os.pipe()
    result_out, result_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_worker(job_out, result_in, work)
    os.close(job_out)
    os.close(result_in)
    return Worker(pid, job_in, result_out)


def _be_worker(job: int, result: int, work: Work) -> None:
    status = 1
    try:
        _keep_only(job, result)
        with os.fdopen(_JOB, "rb") as file:
            parts = list(_parts(file.read()))
        # Without a job its giver has died, and has said why.
        found = work(parts) if parts else b""
        with os.fdopen(_RESULT, "wb") as file:
            file.write(found)
        status = 0
    except BaseException:  # noqa: BLE001  # whatever it is, it ends here
        traceback.print_exc()
    finally:
        os._exit(status)


def _keep_only(job: int, result: int) -> None:
    # First out of the way, so that neither is overwritten by the other.
    job, result = os.dup(job), os.dup(result)
    os.dup2(job, _JOB)
    os.dup2(result, _RESULT)
    os.closerange(_RESULT + 1, _MOST_OPEN_FILES)


def _parts(job: bytes) -> Iterable[bytes]:
    while job:
        end = _LENGTH_BYTES + int.from_bytes(job[:_LENGTH_BYTES], "big")
        yield job[_LENGTH_BYTES:end]
        job = job[end:]
