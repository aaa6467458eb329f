"""The final code of a run, read from its last snapshot or from its submission.

Both are hostile: only regular files are opened, up to a size limit, and files that are
not text are only named.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import Field

from mlagentbench.core import (
    Record,
    RecordError,
    Task,
    Trace,
    has_linux,
    is_code,
    mask_lines,
)
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
_LARGEST_TOTAL = 20_000_000
"""Bytes of all scripts that are read to be searched."""
_NO_SNAPSHOT = "No snapshot of the workspace was kept"


class FinalCode(Record):
    """Texts by name, and the names of other files."""

    texts: dict[str, str] = Field(default_factory=dict)
    others: tuple[str, ...] = ()
    whole: bool = True
    """False if there may have been files that are neither texts nor others."""
    note: str = ""


def starter_texts(task: Task) -> dict[str, str]:
    folder = task.part("starter")
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
    last = _last_snapshot(snapshots, trace)
    if last is None:
        return _from_submission(submission, starter)
    try:
        return _from_snapshot(SnapshotStore(snapshots), last, starter)
    except RecordError as error:
        found = _from_submission(submission, starter)
        return found.model_copy(update={"note": f"{error}. {found.note}".strip()})


def read_new_scripts(
    snapshots: Path, submission: Path, trace: Trace, starter: Mapping[str, str]
) -> dict[str, str | None]:
    """Read the scripts of a run's last workspace to their end, for process checks.

    Lines of the starter are masked. The shortest scripts are read first. None stands
    for a script that is too long; one that is lost or damaged is left out.
    """
    known = {line for text in starter.values() for line in text.split("\n")}
    files = [
        file
        for file in _saved_files(snapshots, submission, trace)
        if is_code(file.name) and not is_read_only(file.name)
    ]
    scripts: dict[str, str | None] = {}
    left = _LARGEST_TOTAL
    for file in sorted(files, key=lambda one: one.size):
        left -= file.size
        if file.read is None or left < 0:
            scripts[file.name] = None
            continue
        with suppress(RecordError, OSError):
            # No other encoding than UTF-8 may hide code either.
            text = file.read().decode(errors="replace")
            scripts[file.name] = mask_lines(text, known)
    return scripts


class _SavedFile(NamedTuple):
    name: str
    size: int
    read: Callable[[], bytes] | None
    """None if the contents were not kept."""


def _saved_files(
    snapshots: Path, submission: Path, trace: Trace
) -> Iterator[_SavedFile]:
    """Yield the files of the last snapshot, or else of the submission."""
    last = _last_snapshot(snapshots, trace)
    if last is not None:
        with suppress(RecordError):
            store = SnapshotStore(snapshots)
            for entry in store.manifest(last).entries:
                kept = entry.object is not None and not entry.dropped
                # A link or a pipe has no size.
                if entry.kind == "file" and (kept or entry.size):
                    read = partial(store.read, entry) if kept else None
                    yield _SavedFile(entry.shown, entry.size or 0, read)
            return
    saved = SafeFolder(submission, allow_hard_links=True)
    for name, size in _submitted_files(submission):
        read = partial(saved.read, PurePosixPath(name), limit=size)
        yield _SavedFile(shown(name), size, read)


def _last_snapshot(snapshots: Path, trace: Trace) -> str | None:
    taken = [step.snapshot for step in trace.steps if step.snapshot]
    return taken[-1] if taken and (snapshots / "manifests").is_dir() else None


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
        if entry.object is not None
        and not entry.dropped
        and (entry.size or 0) <= _LARGEST
        and _is_code(entry.name, starter)
    ][:_MOST_FILES]
    texts = {
        entry.name: starter[entry.name]
        for entry in wanted
        if entry.name in starter and entry.holds(starter[entry.name].encode())
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
    for raw_name, size in _submitted_files(folder)[: 10 * _MOST_FILES]:
        name = shown(raw_name)
        wanted = _is_code(name, starter) and len(texts) < _MOST_FILES
        text = _read_text(folder, raw_name) if wanted else None
        if text is None:
            others.append(_with_size(name, size))
        else:
            texts[name] = text
    known = "what was submitted is compared" if texts else "there is no code to compare"
    return FinalCode(
        texts=texts, others=tuple(others), whole=False, note=f"{_NO_SNAPSHOT}: {known}."
    )


def _submitted_files(folder: Path) -> list[tuple[str, int]]:
    """Return name and size of the regular files of a submission, in order."""
    paths = sorted(
        Path(above) / name
        for above, _, names in os.walk(folder, followlinks=False)
        for name in names
    )
    found = [(path.relative_to(folder).as_posix(), path.lstat()) for path in paths]
    return [(name, at.st_size) for name, at in found if stat.S_ISREG(at.st_mode)]


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
