"""List Files: what is in a folder of the workspace."""

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.paths import WORKSPACE, workspace_path
from mlagentbench.environment.room import Room


async def _list_files(room: Room, dir_path: str) -> str:
    folder = WORKSPACE / workspace_path(dir_path)
    # -b shows control bytes in hostile file names as escapes.
    result = await room.sandbox.exec(
        ["ls", "-Fb", "--", str(folder)], timeout=30, timeout_retry=False
    )
    if not result.success:
        raise ActionError(f"cannot list {dir_path}: {result.stderr.strip()}")
    return _visible(result.stdout) or "(empty)"


def _visible(text: str) -> str:
    """Show format characters, which could reorder what a reader sees, as escapes."""
    shown = (
        char if char == "\n" or char.isprintable() else ascii(char)[1:-1]
        for char in text
    )
    return "".join(shown)


LIST_FILES = Action(
    name="List Files",
    summary="List the files in a folder of the workspace.",
    parameters={"dir_path": "a folder, relative to the workspace; . is the workspace"},
    do=_list_files,
)
