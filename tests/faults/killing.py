"""Killing a harness at chosen changes or moments, and resuming what it left."""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tests.faults.harness import Job, Place, Point, finish, note_changes, start
from tests.faults.inject import Change
from tests.faults.plans import plan_for
from tests.support.outcomes import Outcome, outcome_of

from mlagentbench.experiment.experiment import Experiment

T = TypeVar("T")

_KILLED = -9
_AT_ONCE = 2


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing happened to."""

    job: Job
    outcome: Outcome
    changes: dict[int, Change]
    """By number."""
    seconds: float

    def points(self) -> list[Point]:
        """Return every boundary: before and in the middle of changes, and the end."""
        found = []
        for number, change in self.changes.items():
            found.append(Point(number, "before"))
            if change.has_half:
                found.append(Point(number, "half"))
        return [*found, Point(number, "after")]

    def one_of_each_kind(self) -> list[Point]:
        """Return the boundaries of every step, and the last of each other kind."""
        kinds: dict[str, Point] = {}
        for point in self.points():
            change = self.changes[point.number]
            kinds[_kind(change, point)] = point
        return sorted(kinds.values(), key=lambda point: point.number)


def undisturbed(place: Place, kind: str) -> Undisturbed:
    """Run once in peace and note what changes."""
    out = place.top / "out"
    # Several tests may ask for one in the same place.
    number = len(list(out.glob(f"{kind}-undisturbed-*")))
    job = Job(place, plan_for(kind, out, f"{kind}-undisturbed-{number}"))
    clock = time.monotonic()
    assert finish(job, note_changes) == 0, said(job)
    seconds = time.monotonic() - clock
    noted = json.loads(job.notes.read_text())
    changes = {number: Change(*one) for number, *one in noted}
    return Undisturbed(job, outcome_of(job.experiment), changes, seconds)


def killed_at(reference: Undisturbed, points: Iterable[Point]) -> list[str]:
    """Kill one run at each point and resume it; return what came out differently."""

    def cycle(point: Point) -> list[str]:
        name = f"{reference.job.plan.name}-{point.number}-{point.moment}"
        job = replace(_named(reference.job, name), killed_at=point)
        change = reference.changes[point.number]
        # How often the engine writes its log depends on time; the end may come before.
        code = finish(job)
        if code != _KILLED and not change.path.startswith("logs"):
            return [f"{point} of {change} was not reached, exit {code}: {said(job)}"]
        return [
            f"killed {point.moment} {change.kind} of {change.path}: {problem}"
            for problem in _resumed(job, reference)
        ]

    return side_by_side(cycle, points)


def killed_after(reference: Undisturbed, moments: Iterable[float]) -> list[str]:
    """Kill runs after some seconds and resume them; return what differs then."""

    def cycle(numbered: tuple[int, float]) -> list[str]:
        number, after = numbered
        job = _named(reference.job, f"{reference.job.plan.name}-after-{number}")
        process = start(job)
        process.join(after)
        process.kill()
        process.join()
        process.close()
        return [
            f"killed after {after:.2f} s: {problem}"
            for problem in _resumed(job, reference)
        ]

    return side_by_side(cycle, enumerate(moments))


def _resumed(job: Job, reference: Undisturbed) -> list[str]:
    job.place.note_sandboxes()
    begun = (job.experiment.folder / "experiment.json").exists()
    # Before that file there is nothing to resume: the command is given again.
    code = finish(replace(job, again=begun, killed_at=None))
    if code != 0:
        return [f"resuming it exits {code}: {said(job)}"]
    problems = differences(job.experiment, reference.outcome)
    if not problems:
        shutil.rmtree(job.experiment.folder)
    return problems


def differences(experiment: Experiment, expected: Outcome) -> list[str]:
    """Say how a resumed experiment of one run differs from the undisturbed one."""
    cards, warnings = experiment.scorecards, experiment.warnings
    if sum(card.ending.counts for card in cards) != 1:
        ends = [f"{card.ending}: {card.reason}" for card in cards]
        return [f"there is not one scorecard that counts: {ends}", *warnings]
    found = outcome_of(experiment)
    problems = [
        f"{part} is not as it would have been: {_short(ours)}, not {_short(theirs)}"
        for part, ours, theirs in zip(Outcome._fields, found, expected, strict=True)
        if ours != theirs
    ]
    if left := _unfinished_files(experiment.folder):
        problems.append(f"unfinished files are left: {left}")
    return problems + warnings


def _unfinished_files(folder: Path) -> list[str]:
    """Return the files of an experiment that a writer did not live to finish."""
    names = [path.relative_to(folder) for path in folder.rglob("*")]
    return [
        str(name)
        for name in names
        if name.parent.name == "incoming"
        or (name.name.startswith(".") and str(name) != ".lock")
    ]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:60]}...{text[-130:]}"


def said(job: Job) -> str:
    """Return what a job that failed has said."""
    log = Path(f"{job.notes}.log")
    return log.read_text(errors="replace")[-2000:] if log.exists() else ""


def _named(job: Job, name: str) -> Job:
    return replace(job, plan=job.plan.model_copy(update={"name": name}))


def _kind(change: Change, point: Point) -> str:
    path = re.sub(r"[0-9a-f]{16,}|\.json\.\w+|logs/.+", "*", change.path)
    place = re.sub(r"objects/..", "objects/*", path)
    if change.kind == "mkdir":
        place = path.partition("/")[0]
    elif path.startswith("trace") and point.moment == "before":
        place = f"{place} {point.number}"
    return f"{point.moment} {change.kind} {place}"


def side_by_side(cycle: Callable[[T], list[str]], given: Iterable[T]) -> list[str]:
    """Do something for each, a few at a time; return all problems together."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [problem for found in pool.map(cycle, given) for problem in found]
