"""Bundles: the experiment folder of a finished cell, as its study publishes it.

A bundle has the snapshots that `--keep` names, and no path of the machine that made
it. Snapshots and submissions are left as they are: sandboxes show agents no path of
the machine, and the names of snapshots are digests of their contents. Units are arrays
of numbers.
"""

import json
import logging
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import mlagentbench
from mlagentbench.core import (
    FolderFiles,
    Record,
    RunId,
    default_cache,
    scratch_root,
    write_atomically,
)
from mlagentbench.environment import WORKSPACE, SnapshotStore
from mlagentbench.experiment import Experiment
from mlagentbench.study.cell import Cell
from mlagentbench.study.executor import Keep
from mlagentbench.study.store import CELL_FILE, Store

logger = logging.getLogger(__name__)

_LEFT_OUT = (".lock", "report.html", "logs/.*")
_UNTOUCHED = ("snapshots/", "submissions/", "units/")
_LOG = ".eval"
_LOG_HEADERS = ("header.json", "_journal/start.json")
_MACHINE_FIELDS = ("revision", "model_base_url")
"""Fields of a log's header: the git repository of the working directory, and a host."""

_ORDINARY = frozenset(
    map(Path, ("/", "/usr", "/usr/local", "/tmp", "/var/tmp", WORKSPACE))
)
"""Folders that every machine or every sandbox has."""


class BundleInfo(Record):
    """`cell.json` of a bundle."""

    cell: Cell
    harness: str
    """The version of mlagentbench that ran the cell."""
    keep: Keep


def publish_bundle(
    store: Store, experiment: Experiment, cell: Cell, keep: Keep
) -> bool:
    """Make a bundle of a cell's experiment folder and publish it.

    Return False if the cell is published already. The folder is changed and should
    not be resumed afterwards.
    """
    paths = _machine_paths(experiment, store.address)
    _keep_snapshots(experiment, cell.run, keep)
    for pattern in _LEFT_OUT:
        for path in experiment.folder.glob(pattern):
            path.unlink()
    info = BundleInfo(cell=cell, harness=version("mlagentbench"), keep=keep)
    cell_file = experiment.folder / CELL_FILE
    write_atomically(cell_file, info.model_dump_json(indent=2) + "\n")
    _hide_paths(experiment.folder, PathFilter(paths))
    return store.publish(cell.id, experiment.folder)


def _keep_snapshots(experiment: Experiment, run: RunId, keep: Keep) -> None:
    """Remove the snapshots that are not kept; the last one counts as a best one."""
    if keep == "submission":
        shutil.rmtree(experiment.snapshots, ignore_errors=True)
        return
    if not experiment.snapshots.is_dir():
        return
    steps = [step for step in experiment.trace(run).steps if step.snapshot]
    kept = {step.snapshot for step in steps if step.snapshot}
    if keep == "best" and steps:
        directions = [card.direction.sign for card in experiment.scorecards] or [1]
        measured = [
            (directions[-1] * step.validation.value, -step.step, step.snapshot)
            for step in steps
            if step.validation is not None and step.snapshot
        ]
        best = {max(measured)[2]} if measured else set()
        kept = {*best, steps[-1].snapshot or ""}
    SnapshotStore(experiment.snapshots).prune(kept)


def _machine_paths(experiment: Experiment, store: str) -> dict[Path, str]:
    """Return the paths of this machine that a bundle may contain, with substitutes."""
    own_tasks = [Path(task.source) for task in experiment.spec.tasks]
    known = [
        (experiment.folder, "<experiment>"),
        # A path that can be loaded from the folder that holds the task.
        *((path, f"./{path.name}") for path in own_tasks),
        (Path(store), "<study>"),
        (default_cache(), "<cache>"),
        (scratch_root(default_cache()), "<scratch>"),
        (Path(mlagentbench.__file__).parents[1], "<package>"),
        (Path(sys.prefix), "<python>"),
        (Path(sys.base_prefix), "<python>"),
        (Path(tempfile.gettempdir()), "<tmp>"),
        *((Path(folder), "<code>") for folder in sys.path),
        (Path.cwd(), "<code>"),
        (Path("~").expanduser(), "<home>"),
    ]
    paths: dict[Path, str] = {}
    for path, substitute in known:
        for spelled in (path, path.resolve()):
            if spelled.is_absolute() and spelled not in _ORDINARY:
                paths.setdefault(spelled, substitute)
    return paths


class PathFilter:
    """Replaces the paths of this machine in texts, however they are encoded."""

    def __init__(self, paths: Mapping[Path, str]) -> None:
        self._substitutes: dict[bytes, bytes] = {}
        for path, substitute in paths.items():
            text = os.fsencode(path)
            escaped = json.dumps(str(path))[1:-1].encode(errors="replace")
            for form in (text, escaped, quote(text).encode()):
                self._substitutes.setdefault(form, substitute.encode())
        # Of two paths that begin alike, the longer one must match.
        longest_first = sorted(self._substitutes, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(_pattern, longest_first)))

    def clean(self, data: bytes) -> bytes:
        return self._pattern.sub(lambda found: self._substitutes[found[0]], data)


def _pattern(form: bytes) -> bytes:
    """Return a pattern of a path that ends there, and not within a longer name."""
    found = re.escape(form) + rb"(?![\w-]|\.\w)"
    if form.count(b"/") > 1:
        return found
    # A short path such as /root is also a part of others. An escaped end of line may
    # precede it.
    return rb"(?:(?<![\w.-])|(?<=\\[bfnrt]))" + found


def _hide_paths(folder: Path, paths: PathFilter) -> None:
    for name in FolderFiles(folder).names(""):
        path = folder / name
        if name.startswith(_UNTOUCHED):
            continue
        if path.suffix == _LOG:
            _rewrite_log(path, paths)
            continue
        before = path.read_bytes()
        after = paths.clean(before)
        if after != before:
            path.write_bytes(after)


def _rewrite_log(path: Path, paths: PathFilter) -> None:
    """Rewrite one of Inspect's logs without paths; a damaged one is deleted."""
    new = path.with_name(f".{path.name}")
    try:
        with (
            zipfile.ZipFile(path) as members,
            # Every reader of zip files knows this compression.
            zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as cleaned,
        ):
            for member, data in _members(members):
                cleaned.writestr(member, paths.clean(data), zipfile.ZIP_DEFLATED)
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        # Logs are for viewing. Every result is in the trace and the scorecard.
        logger.warning("delete %s, which cannot be read: %s", path.name, error)
        new.unlink(missing_ok=True)
        path.unlink()
    else:
        new.replace(path)


def _members(log: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    with suppress(ImportError):
        # Adds Inspect's compression to `zipfile`, which has it from Python 3.14 on.
        import zipfile_zstd  # noqa: F401

    for old in log.infolist():
        data = log.read(old)
        if old.filename in _LOG_HEADERS:
            document = json.loads(data)
            for field in _MACHINE_FIELDS:
                document.get("eval", {}).pop(field, None)
            data = json.dumps(document).encode()
        yield zipfile.ZipInfo(old.filename, old.date_time), data
