"""Reading and writing workspace files as actions do, with failures in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai.util import OutputLimitExceededError

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.paths import WORKSPACE, workspace_path, writable_path
from mlagentbench.environment.room import Room


async def read_text(room: Room, name: str) -> str:
    """Return a file's text; bytes that are no UTF-8 are shown as replacements."""
    path = WORKSPACE / workspace_path(name)
    with _in_plain_words(name):
        contents = await room.sandbox.read_file(str(path), text=False)
    return contents.decode("utf-8", errors="replace")


async def write_text(room: Room, name: str, text: str) -> None:
    """Replace a file's text; folders on the way are made."""
    path = WORKSPACE / writable_path(name)
    with _in_plain_words(name):
        contents = text.encode("utf-8", errors="replace")
        await room.sandbox.write_file(str(path), contents)


@contextmanager
def _in_plain_words(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ActionError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise ActionError(f"{name} is a folder, not a file") from None
    except OutputLimitExceededError:
        raise ActionError(f"{name} is too large to read whole") from None
    except OSError as error:
        raise ActionError(f"{name}: {error.strerror or error}") from None
