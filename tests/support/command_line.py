"""`mlab` called in this process, which saves the seconds a new one needs to import."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from tempfile import TemporaryFile
from typing import NamedTuple, TextIO
from unittest.mock import patch

from mlagentbench.cli.main import main


class Finished(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str


def run(*words: object, **environment: str) -> Finished:
    """Call `mlab` in the current folder, as a script does: no stream is a terminal.

    An error that `main` does not handle is raised here, instead of a traceback in
    `err` and the exit code 1.
    """
    with ExitStack() as stack:
        stack.enter_context(patch("sys.stdin", stack.enter_context(_redirected(0))))
        out = stack.enter_context(_redirected(1))
        err = stack.enter_context(_redirected(2))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        # Also undoes what the command itself changes in the environment.
        stack.enter_context(patch.dict(os.environ, environment))
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code
        return Finished(code, _text(out), _text(err))


@contextmanager
def _redirected(descriptor: int) -> Iterator[TextIO]:
    """Connect a standard stream to a file, also for processes the command starts."""
    before = os.dup(descriptor)
    with TemporaryFile("w+", encoding="utf-8") as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield file
        finally:
            os.dup2(before, descriptor)
            os.close(before)


def _text(file: TextIO) -> str:
    file.seek(0)
    return file.read()
