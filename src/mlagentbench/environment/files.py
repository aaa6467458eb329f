"""Reading and writing workspace files as actions do, with failures in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai.util import OutputLimitExceededError

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.backups import keep_backup
from mlagentbench.environment.paths import WORKSPACE, workspace_path, writable_path
from mlagentbench.environment.room import Room


async def read_text(room: Room, name: str) -> str:
    """Return a file's text; bytes that are no UTF-8 are shown as replacements."""
    return (await _read(room, name)).decode("utf-8", errors="replace")


async def write_text(room: Room, name: str, text: str) -> None:
    """Replace a file's text; folders on the way are made."""
    await _write(room, name, text.encode("utf-8", errors="replace"))


async def append_text(room: Room, name: str, text: str) -> None:
    """Add text at the end of a file, which is made where there is none."""
    writable_path(name)
    try:
        old = await _read(room, name)
    except AbsentError:
        old = b""
    await _write(room, name, old + text.encode("utf-8", errors="replace"))


async def copy_bytes(room: Room, source: str, destination: str) -> None:
    """Put what `source` holds into `destination` too."""
    writable_path(destination)
    await _write(room, destination, await _read(room, source))


class AbsentError(ActionError):
    """The file that was named is not there."""


async def _read(room: Room, name: str) -> bytes:
    path = WORKSPACE / workspace_path(name)
    with in_plain_words(name):
        return await room.sandbox.read_file(str(path), text=False)


async def _write(room: Room, name: str, contents: bytes) -> None:
    path = writable_path(name)
    with in_plain_words(name):
        await keep_backup(room, path)
        await room.sandbox.write_file(str(WORKSPACE / path), contents)


@contextmanager
def in_plain_words(name: str) -> Iterator[None]:
    """Tell the agent what is wrong with a file it named."""
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
