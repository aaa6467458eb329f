"""Is the prepared data what was prepared, and does it keep the labels to itself?"""

import shutil
from pathlib import Path

from mlagentbench.tasks.check.bench import Verdict, failed, passed
from mlagentbench.tasks.check.subject import Subject
from mlagentbench.tasks.digest import sha256_of
from mlagentbench.tasks.fetch import fetch
from mlagentbench.tasks.manifest import SAME_TIME
from mlagentbench.tasks.prepare import run_prepare, verify


def data_is_as_prepared(subject: Subject) -> Verdict:
    """Hash everything again; file times must tell nothing either."""
    problems = verify(subject.prepared)
    public = subject.prepared.public
    times = {int(path.stat().st_mtime) for path in (public, *public.rglob("*"))}
    if times != {SAME_TIME}:
        problems.append("files in public/ differ in age")
    if problems:
        return failed(*problems)
    return passed("every file is as its manifest says, and equally old")


def labels_do_not_leak(subject: Subject) -> Verdict:
    """Alter every held-out label and prepare again: public/ must not show it."""
    honest = _prepare_again(subject, "honest", tamper=False)
    altered = _prepare_again(subject, "altered", tamper=True)
    given = subject.prepared
    problems = [
        f"public/{name} changes when held-out labels change"
        for name in _differing(honest / "public", altered / "public")
    ]
    problems += [
        f"{part.name}/{name} comes out differently each time it is prepared"
        for part in (given.public, given.private)
        for name in _differing(part, honest / part.name)
    ]
    untouched = _unaltered(subject, honest, altered)
    if untouched:
        problems.append(f"prepare(tamper=True) leaves {untouched} labels as they are")
    if problems:
        return failed(*problems)
    return passed("altering every held-out label leaves public/ the same")


def _prepare_again(subject: Subject, name: str, *, tamper: bool) -> Path:
    folder = subject.scratch / name
    shutil.rmtree(folder, ignore_errors=True)
    archives = fetch(subject.task, subject.prepared.cache)
    run_prepare(subject.task, archives, folder, tamper=tamper)
    return folder


def _differing(one: Path, other: Path) -> list[str]:
    first, second = _contents(one), _contents(other)
    names = sorted(first.keys() | second.keys())
    return [name for name in names if first.get(name) != second.get(name)]


def _contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def _unaltered(subject: Subject, honest: Path, altered: Path) -> int:
    """Count lines of the truth that tampering left alone; binary truths as one."""
    name = Path("private", subject.task.truth)
    if name.suffix != ".csv":
        return int((honest / name).read_bytes() == (altered / name).read_bytes())
    before = (honest / name).read_text(encoding="utf-8").splitlines()[1:]
    after = {*(altered / name).read_text(encoding="utf-8").splitlines()[1:]}
    return sum(line in after for line in before)
