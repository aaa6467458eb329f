"""Whose fault is it? The error tree, and the helper that labels failures.

BenchError
├── UsageError       the command or its arguments are wrong        (exit 2)
├── MachineError     this machine cannot; the message says the fix (exit 3)
├── TaskError        a task folder or its data is unsound
├── SandboxError     our sandbox failed: the run is broken
├── GraderError      our grader failed: the run is broken
├── RecordError      an experiment's files cannot be read or written
├── ProviderError    a model's provider failed: the run can be resumed
├── ReplayError      a run cannot be taken up again as it was
├── ActionError      an action could not be done: the agent is told
└── SubmissionError  what was submitted is not acceptable: the agent's fault
"""

from collections.abc import Iterator
from contextlib import contextmanager


class BenchError(Exception):
    """Any failure this package names; its text is one sentence for a person."""


class UsageError(BenchError):
    """The command, or the name it was given, is wrong."""


class MachineError(BenchError):
    """This machine lacks something; the message says how to get it."""


class TaskError(BenchError):
    """A task's folder or its data is unsound."""


class SandboxError(BenchError):
    """The sandbox itself failed, not what ran in it."""


class GraderError(BenchError):
    """A grader failed on a submission it should have judged or refused."""


class RecordError(BenchError):
    """An experiment's files cannot be read or written."""


class ProviderError(BenchError):
    """A model's provider failed after all retries."""


class ReplayError(BenchError):
    """A run cannot be taken up again as it was."""


class ActionError(BenchError):
    """An action could not be carried out; the text becomes the observation."""


class SubmissionError(BenchError):
    """A submission is missing, malformed or otherwise not acceptable."""


@contextmanager
def blame(kind: type[BenchError], subject: str) -> Iterator[None]:
    """Label whatever fails inside as `kind`, about `subject`.

    An error that already carries a label keeps it, so that a `SubmissionError`
    raised by a grader stays the agent's fault while a bug in it becomes ours.
    """
    try:
        yield
    except BenchError:
        raise
    except Exception as error:
        raise kind(f"{subject}: {type(error).__name__}: {error}") from error
