"""The final code of a run, read from its last snapshot or from its submission.

Both are hostile: only regular files are opened, up to a size limit, and files that are
not text are only named.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from pydantic import Field

from mlagentbench.core import Record, RecordError, Task, Trace, has_linux
from mlagentbench.environment import (
    BACKUP,
    SafeFolder,
    SnapshotStore,
    is_read_only,
    shown,
)

_SCRIPTS = (".py", ".sh", ".r", ".jl", ".c", ".h", ".cc", ".cpp", ".rs", ".go")
_SETTINGS = (".toml", ".yaml", ".yml", ".cfg", ".ini")
_LARGEST = 200_000
_MOST_FILES = 30
_NO_SNAPSHOT = "No snapshot of the workspace was kept"


class FinalCode(Record):
    """Texts by name, and the names of other files."""

    texts: dict[str, str] = Field(default_factory=dict)
    others: tuple[str, ...] = ()
    whole: bool = True
    """False if there may have been files that are neither texts nor others."""
    note: str = ""


def starter_texts(task: Task) -> dict[str, str]:
    folder = task.folder / "starter"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {
        path.relative_to(folder).as_posix(): _decoded(path.read_bytes())
        for path in files
        if "__pycache__" not in path.parts
    }
    return {name: text for name, text in texts.items() if text is not None}


def read_final_code(
    snapshots: Path, submission: Path, trace: Trace, starter: Mapping[str, str]
) -> FinalCode:
    """Read the code of a run's last workspace, or else of its submission."""
    if not has_linux():
        # An agent wrote these files, and only Linux opens them without following links.
        return FinalCode(whole=False, note="Code changes can be read on Linux only.")
    taken = [step.snapshot for step in trace.steps if step.snapshot]
    if not taken or not (snapshots / "manifests").is_dir():
        return _from_submission(submission, starter)
    try:
        return _from_snapshot(SnapshotStore(snapshots), taken[-1], starter)
    except RecordError as error:
        found = _from_submission(submission, starter)
        return found.model_copy(update={"note": f"{error}. {found.note}".strip()})


def _from_snapshot(
    store: SnapshotStore, name: str, starter: Mapping[str, str]
) -> FinalCode:
    files = [
        entry
        for entry in store.manifest(name).entries
        if entry.kind == "file" and not _is_backup_or_given(entry.name)
    ]
    wanted = [
        entry
        for entry in files
        if entry.sha256 is not None
        and not entry.dropped
        and (entry.size or 0) <= _LARGEST
        and _is_code(entry.name, starter)
    ][:_MOST_FILES]
    digests = {
        name: hashlib.sha256(text.encode()).hexdigest()
        for name, text in starter.items()
    }
    texts = {
        entry.name: starter[entry.name]
        for entry in wanted
        if digests.get(entry.name) == entry.sha256
    }
    for entry in wanted:
        if (
            entry.name not in texts
            and (text := _decoded(store.read(entry))) is not None
        ):
            texts[entry.shown] = text
    left = [entry for entry in files if entry.shown not in texts]
    return FinalCode(
        texts={name: texts[name] for name in sorted(texts)},
        others=tuple(_with_size(entry.shown, entry.size) for entry in left),
    )


def _is_backup_or_given(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = path.is_relative_to(BACKUP) or "__pycache__" in path.parts
    return hidden or is_read_only(name)


def _is_code(name: str, starter: Mapping[str, str]) -> bool:
    return name in starter or name.lower().endswith((*_SCRIPTS, *_SETTINGS))


def _from_submission(folder: Path, starter: Mapping[str, str]) -> FinalCode:
    texts: dict[str, str] = {}
    others: list[str] = []
    paths = sorted(
        Path(above) / name
        for above, _, names in os.walk(folder, followlinks=False)
        for name in names
    )
    files = [path for path in paths if stat.S_ISREG(path.lstat().st_mode)]
    for path in files[: 10 * _MOST_FILES]:
        raw_name = path.relative_to(folder).as_posix()
        name = shown(raw_name)
        wanted = _is_code(name, starter) and len(texts) < _MOST_FILES
        text = _read_text(folder, raw_name) if wanted else None
        if text is None:
            others.append(_with_size(name, path.lstat().st_size))
        else:
            texts[name] = text
    known = "what was submitted is compared" if texts else "there is no code to compare"
    return FinalCode(
        texts=texts, others=tuple(others), whole=False, note=f"{_NO_SNAPSHOT}: {known}."
    )


def _read_text(folder: Path, name: str) -> str | None:
    """Read a regular file that is text and not too long; None for anything else."""
    # Two experiments may share a file by hard links.
    saved = SafeFolder(folder, allow_hard_links=True)
    with suppress(OSError):
        return _decoded(saved.read(PurePosixPath(name), limit=_LARGEST))
    return None


def _decoded(contents: bytes) -> str | None:
    try:
        text = contents.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _with_size(name: str, size: int | None) -> str:
    if size is None:
        return name
    written = f"{size:,} bytes" if size < 10_000 else f"{size // 1000:,} kB"
    return f"{name} ({written})"
