"""Workspace files: read, written, backed up and collected.

A backup is named after the step that replaced the file, so that no two collide. It is
under `backup/` at the file's own path, so that sub-folders work.
"""

import errno
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironment,
    override_sandbox_output_limit,
)

from mlagentbench.core import ActionError, SubmissionError, Task
from mlagentbench.environment.action import ActionContext
from mlagentbench.environment.paths import (
    BACKUP,
    WORKSPACE,
    refusal_note,
    workspace_path,
    writable_path,
)
from mlagentbench.environment.sandbox.safe_files import SafeFolder


async def read_text(context: ActionContext, name: str) -> str:
    """Return a file's text; bytes that are not UTF-8 become replacement characters."""
    return (await _read(context, name)).decode("utf-8", errors="replace")


async def write_text(context: ActionContext, name: str, text: str) -> None:
    """Replace a file's text; make missing folders."""
    await _write(context, name, text.encode("utf-8", errors="replace"))


async def append_text(context: ActionContext, name: str, text: str) -> None:
    """Add text at the end of a file; make it if it is missing."""
    writable_path(name)
    try:
        old = await _read(context, name)
    except AbsentError:
        old = b""
    await _write(context, name, old + text.encode("utf-8", errors="replace"))


async def copy_bytes(context: ActionContext, source: str, destination: str) -> None:
    writable_path(destination)
    await _write(context, destination, await _read(context, source))


class AbsentError(ActionError):
    """The named file does not exist."""


async def _read(context: ActionContext, name: str) -> bytes:
    path = WORKSPACE / workspace_path(name)
    with file_errors(name):
        return await context.sandbox.read_file(str(path), text=False)


async def _write(context: ActionContext, name: str, contents: bytes) -> None:
    path = writable_path(name)
    with file_errors(name):
        await _back_up(context, path)
        await context.sandbox.write_file(str(WORKSPACE / path), contents)


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Turn errors about a file into errors that an agent can act on."""
    try:
        yield
    except FileNotFoundError:
        raise AbsentError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise ActionError(f"{name} is a folder, not a file") from None
    except OutputLimitExceededError:
        raise ActionError(f"{name} is too large to read whole") from None
    except OSError as error:
        raise ActionError(f"{name}: {error.strerror or error}") from None


async def _back_up(context: ActionContext, path: PurePosixPath) -> None:
    if path.is_relative_to(BACKUP):
        return
    try:
        contents = await context.sandbox.read_file(str(WORKSPACE / path), text=False)
    except OSError:
        return  # Not there, or not a file; the edit itself will say so.
    kept = WORKSPACE / BACKUP / path / f"{context.services.step_number:06d}"
    await context.sandbox.write_file(str(kept), contents)


async def undo(context: ActionContext, path: PurePosixPath) -> bytes:
    """Restore the last backup of `path` and return its contents."""
    folder = WORKSPACE / BACKUP / path
    listed = await context.sandbox.exec(
        ["ls", "--", str(folder)], timeout=30, timeout_retry=False
    )
    versions = sorted(
        name for name in listed.stdout.split() if re.fullmatch(r"[0-9]{6}", name)
    )
    if not versions:
        raise ActionError(f"there is no change of {path} to undo")
    last = str(folder / versions[-1])
    contents = await context.sandbox.read_file(last, text=False)
    await context.sandbox.write_file(str(WORKSPACE / path), contents)
    await context.sandbox.exec(
        ["rm", "-f", "--", last], timeout=30, timeout_retry=False
    )
    return contents


async def collect(
    sandbox: SandboxEnvironment, names: tuple[str, ...], into: Path, *, limit_mb: float
) -> None:
    """Copy the named workspace files below `into`; raise if one is unacceptable."""
    left = int(limit_mb * 2**20)
    for name in names:
        with (
            _submission_errors(name, limit_mb),
            override_sandbox_output_limit(max(left, 1), "read_file"),
        ):
            contents = await sandbox.read_file(str(WORKSPACE / name), text=False)
        left -= len(contents)
        _keep(into, name, contents)


def _collect_outside(
    path: Path, names: tuple[str, ...], into: Path, *, limit_mb: float
) -> None:
    """Copy the named files of a folder, or one file whatever it is called."""
    # Below its parent no link is followed, so the path itself must not be one either.
    folder, own_name = SafeFolder(path.parent), PurePosixPath(path.name)
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    if len(names) > 1 and not is_folder:
        raise SubmissionError(f"it is not a folder with {' and '.join(names)}")
    left = int(limit_mb * 2**20)
    for name in names:
        with _submission_errors(name if is_folder else path.name, limit_mb):
            file = own_name / name if is_folder else own_name
            contents = folder.read(file, limit=left)
        left -= len(contents)
        _keep(into, name, contents)


@contextmanager
def _submission_errors(name: str, limit_mb: float) -> Iterator[None]:
    """Turn errors about a file into reasons why a submission is refused."""
    too_large = f"{name} makes the submission larger than {limit_mb:g} MB"
    try:
        yield
    except FileNotFoundError:
        raise SubmissionError(f"{name} is missing") from None
    except IsADirectoryError:
        raise SubmissionError(f"{name} is a folder, not a file") from None
    except OutputLimitExceededError:
        raise SubmissionError(too_large) from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SubmissionError(too_large) from None
        raise SubmissionError(f"{name}: {error.strerror or error}") from None


def _keep(into: Path, name: str, contents: bytes) -> None:
    target = into / workspace_path(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(contents)


async def fingerprint(sandbox: SandboxEnvironment, names: tuple[str, ...]) -> list[str]:
    """Return one line per file that exists, different whenever one was written."""
    paths = [str(WORKSPACE / name) for name in names]
    # The change time cannot be set by the agent, unlike the modification time.
    command = ["stat", "-c", "%n %i %s %y %z", "--", *paths]
    result = await sandbox.exec(command, timeout=30, timeout_retry=False)
    return result.stdout.splitlines()


async def save_submission(task: Task, sandbox: SandboxEnvironment, into: Path) -> None:
    """Copy the declared files out of the sandbox, or record why that failed."""
    limit = task.budget.submission_mb
    with _new_submission(into):
        await collect(sandbox, task.submission, into, limit_mb=limit)


def save_outside_submission(task: Task, path: Path, into: Path) -> None:
    """Copy a submission that was made elsewhere, or record why that failed.

    `path` is a folder with the declared files, or the file itself if the task declares
    one. Its contents are as hostile as a workspace.
    """
    limit = task.budget.submission_mb
    with _new_submission(into):
        _collect_outside(path.absolute(), task.submission, into, limit_mb=limit)


@contextmanager
def _new_submission(into: Path) -> Iterator[None]:
    """Make an empty folder for a submission; record the reason if it is refused."""
    shutil.rmtree(into, ignore_errors=True)
    refusal_note(into).unlink(missing_ok=True)
    into.mkdir(parents=True)
    try:
        yield
    except SubmissionError as error:
        refusal_note(into).write_text(str(error), encoding="utf-8")
