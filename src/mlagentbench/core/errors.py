"""The error tree, and the helper that attributes failures.

BenchError
├── UsageError       the command or its arguments are wrong        (exit 2)
├── MachineError     this machine cannot; the message says the fix (exit 3)
├── TaskError        a task folder or its data is invalid
├── SandboxError     our sandbox failed: the run is broken
├── GraderError      our grader failed: the run is broken
├── RecordError      an experiment's files cannot be read or written
├── ProviderError    a model's provider failed: the run can be resumed
│   └── ModelReplyError  because of the model's own reply
├── ReplayError      a run cannot be resumed as it was
├── ActionError      an action failed: the agent reads the message
└── SubmissionError  the submission is invalid: the agent's fault
"""

from collections.abc import Iterator
from contextlib import contextmanager


class BenchError(Exception):
    """Any failure this package names; its text is one sentence for users."""


class UsageError(BenchError):
    """The command or one of its arguments is wrong (exit code 2)."""


class MachineError(BenchError):
    """This machine lacks something; the message gives the fix (exit code 3)."""


class TaskError(BenchError):
    """A task's folder or its data is invalid."""


class SandboxError(BenchError):
    """The sandbox failed, not the code in it: the run is broken."""


class GraderError(BenchError):
    """A grader failed on a submission: the run is broken."""


class RecordError(BenchError):
    """An experiment's files cannot be read or written."""


class ProviderError(BenchError):
    """A model's provider failed after all retries; the run can be resumed."""


class ModelReplyError(ProviderError):
    """A model's own reply made its provider fail; twice in a row counts."""


class ReplayError(BenchError):
    """A run cannot be resumed as it was."""


class ActionError(BenchError):
    """An action failed; the text becomes the observation."""


class SubmissionError(BenchError):
    """A submission is missing or invalid: the agent's fault."""


@contextmanager
def blame(kind: type[BenchError], subject: str) -> Iterator[None]:
    """Raise `kind` about `subject` for any failure inside.

    A `BenchError` passes as it is, so that a `SubmissionError` raised by a grader
    stays the agent's fault while a bug in the grader becomes a `GraderError`.
    """
    try:
        yield
    except BenchError:
        raise
    except Exception as error:
        raise kind(f"{subject}: {type(error).__name__}: {error}") from error
