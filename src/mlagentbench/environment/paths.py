"""The path rule: which paths an action may name, and which it may write.

The rule is lexical and its errors tell an agent what to do. It is the first of two
defences: safe_files and the sandbox refuse links and mounts whatever the name.
"""

from pathlib import Path, PurePosixPath

from mlagentbench.core import ActionError, truncate

WORKSPACE = PurePosixPath("/workspace")
READ_ONLY = (PurePosixPath("data"), PurePosixPath("evaluate.py"))
"""Everything under `data/`, and the metric: an agent may read but not change them."""

_LONGEST_NAME = 255
_LONGEST_PATH = 1024


def workspace_path(name: str) -> PurePosixPath:
    """Return `name` as a normal path relative to the workspace, or raise."""
    if not name.strip():
        raise ActionError("an empty path was given; name a file of the workspace")
    if len(name) > _LONGEST_PATH:
        raise ActionError(f"{_short(name)}: this path is too long")
    if not name.isprintable():
        raise ActionError(
            f"{_short(name)}: control characters are not allowed in paths"
        )
    given = PurePosixPath(name)
    if given.is_absolute() and not given.is_relative_to(WORKSPACE):
        raise ActionError(
            f"{_short(str(given))} is outside the workspace; use a path relative to it"
        )
    relative = given.relative_to(WORKSPACE) if given.is_absolute() else given
    parts = _without_dots(relative, name)
    if any(len(part.encode()) > _LONGEST_NAME for part in parts):
        raise ActionError(f"{_short(name)}: a part of this path is too long")
    return PurePosixPath(*parts)


def writable_path(name: str) -> PurePosixPath:
    """Return `name` as a path that may be written, or raise."""
    path = workspace_path(name)
    if path == PurePosixPath():
        raise ActionError(f"{_short(name)} is the workspace itself, not a file")
    if any(path.is_relative_to(kept) for kept in READ_ONLY):
        raise ActionError(f"{_short(name)} is read-only; write to another file")
    return path


def _without_dots(relative: PurePosixPath, name: str) -> list[str]:
    parts: list[str] = []
    for part in relative.parts:
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            raise ActionError(f"{_short(name)} is outside the workspace")
    return parts


def _short(name: str) -> str:
    return ascii(truncate(name, 80))


BACKUP = PurePosixPath("backup")


def refusal_note(saved: Path) -> Path:
    """Return the file that holds the reason why a submission could not be collected."""
    return saved.with_name(f"{saved.name}.refused")
