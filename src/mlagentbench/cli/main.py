"""`mlab`: finds the command, runs it, and turns errors into one sentence."""

import errno
import importlib
import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from typing import cast

import click

from mlagentbench import __version__
from mlagentbench.cli.output import (
    clean_uncaught_errors,
    print_traceback,
    say,
    show_cursor,
)
from mlagentbench.core import BenchError, MachineError, UsageError, did_you_mean

COMMANDS = {
    "tasks": "List the tasks with metric, data and starter score.",
    "agents": "List the agents and whether they need a model.",
    "doctor": "Check the machine: sandbox, limits, memory, API keys.",
    "prepare": "Download or build task data into the cache.",
    "check": "Validate tasks: data, grader, starter, reference.",
    "measure": "Measure starter, tuning baseline and reference.",
    "run": "Run an agent on tasks, grade it and write a report.",
    "study": "Run agents, models, tasks and seeds as one study.",
    "status": "Show how far an experiment or a study is.",
    "resume": "Resume the unfinished runs of an experiment.",
    "score": "Re-grade saved submissions.",
    "show": "Show the runs of an experiment, or the steps of a run.",
    "compare": "Compare agents or models on shared tasks.",
    "report": "Write an HTML report about experiments.",
    "view": "Open Inspect's log viewer.",
    "prune": "Delete snapshots that no run refers to.",
    "workspace": "Write the workspace of a task into a folder.",
    "grade": "Grade submissions that were made elsewhere.",
    "new-agent": "Write a small agent into a new file.",
    "new-task": "Write a small complete task into a new folder.",
}
"""The summary of each, in the order a newcomer needs them.

`mlab --help` shows these and imports no command.
"""


class LazyGroup(click.Group):
    """Imports a command's file only when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(COMMANDS)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if cmd_name not in COMMANDS:
            return None
        file = cmd_name.replace("-", "_")
        module = importlib.import_module(f"mlagentbench.cli.commands.{file}")
        return cast(click.Command, module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            hint = did_you_mean(args[0], COMMANDS, "run `mlab --help` to list commands")
            raise UsageError(f"unknown command '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mlab")
@click.option("--debug", is_flag=True, help="Show debug logs and tracebacks.")
def mlab(*, debug: bool) -> None:
    """Run AI agents on machine-learning research tasks and grade them.

    Start with `mlab run house-price`, which needs no model and no API key.
    """
    del debug  # Taken from the arguments by `main`, wherever it stands.


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with the code the contract gives it."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    words = [word for word in given if word != "--debug"]
    _configure_logging(debug=debug)
    if arguments is None and _USES_SANDBOXES.intersection(words[:1]):
        _enter_user_scope()
    clean_uncaught_errors()
    try:
        with _second_ctrl_c_exits():
            code = mlab.main(words, prog_name="mlab", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        say(f"mlab: {_sentence(error)}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        say("mlab: interrupted", err=True)
        sys.exit(1)
    except BenchError as error:
        if debug:
            print_traceback(error)
        say(f"mlab: {error}", err=True)
        sys.exit(exit_code(error))
    except OSError as error:
        # Records are written by code that names its file in an error of ours.
        if error.filename is not None or error.errno not in _CANNOT_WRITE:
            raise
        if debug:
            print_traceback(error)
        _drop_output()
        say(f"mlab: cannot write the output: {error.strerror}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


_USES_SANDBOXES = frozenset(
    ("check", "doctor", "grade", "measure", "resume", "run", "score", "study")
)


def _enter_user_scope() -> None:
    """Start this command again where control groups can be made, if there is a way."""
    from mlagentbench.environment import user_scope

    if (found := user_scope()) is not None:
        scope, variables = found
        again = [*scope, sys.executable, *sys.orig_argv[1:]]
        os.execve(again[0], again, variables)


@contextmanager
def _second_ctrl_c_exits() -> Iterator[None]:
    """Let the first Ctrl-C end a command gracefully, and the second at once.

    The signal writes a byte that a thread reads, so that the second one works whatever
    the main thread does. Records on disk are as complete as after a kill.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # its signature
    threading.Thread(target=_watch_ctrl_c, args=(reading,), daemon=True).start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)


def _watch_ctrl_c(reading: int) -> None:
    with open(reading, "rb", buffering=0) as signals:  # a descriptor
        if not _next_ctrl_c(signals):
            return
        is_over, _, _ = select.select([signals], [], [], 1.0)
        if not is_over:
            say("mlab: ending; press Ctrl-C again to stop at once", err=True)
        if _next_ctrl_c(signals):
            # An import could wait for the main thread; without the module, no child.
            if child := sys.modules.get("mlagentbench.core.child"):
                child.kill_groups()
            if sys.stderr.isatty():
                show_cursor()
            say("mlab: stopped", err=True)
            os._exit(1)


def _next_ctrl_c(signals: RawIOBase) -> bool:
    """Wait for Ctrl-C; return False if the command has ended without it."""
    while number := signals.read(1):
        if number[0] == signal.SIGINT:
            return True
    return False


_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def _drop_output() -> None:
    """Discard buffered output, which the interpreter would try to write at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _sentence(error: click.ClickException) -> str:
    """Return an error of click in the form of the other errors."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return error.format_message()
    if isinstance(error, click.NoSuchOption):
        known = [name for one in context.command.params for name in one.opts]
        hint = f"run `{context.command_path} --help` to list options"
        name = error.option_name
        return f"unknown option '{name}'; {did_you_mean(name, known, hint)}"
    said = error.format_message().rstrip(".")
    return f"{said[:1].lower()}{said[1:]}; see `{context.command_path} --help`"


class _StderrHandler(logging.Handler):
    """Writes to standard error as it is now: a live display may replace it."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), err=True)


def _configure_logging(*, debug: bool) -> None:
    """Send the package's own log to standard error.

    Inspect configures the root logger, so the package's logger does not propagate.
    """
    handler = _StderrHandler()
    layout = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(logging.Formatter(layout if debug else "mlab: %(message)s"))
    logger = logging.getLogger("mlagentbench")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)


def exit_code(error: BenchError) -> int:
    """Return 2 for a wrong command, 3 for a machine that cannot, else 1."""
    if isinstance(error, UsageError):
        return 2
    return 3 if isinstance(error, MachineError) else 1
