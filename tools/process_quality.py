"""How good are the process checks? Precision and recall on the labelled set.

    python tools/process_quality.py      first what they were tuned on

Each step of each labelled trace is one case for each check: labelled or not, found or
not. A finding is at the step it names first.
"""

import sys
from pathlib import Path

from mlagentbench.core.record import Record
from mlagentbench.core.task import Baseline, DataKind, Edition, Grading, Measured, Task
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.process.examine import CHECKS
from mlagentbench.evaluation.process.run_view import RunView
from mlagentbench.experiment.trace_file import read_trace

LABELLED = Path(__file__).parent.parent / "tests" / "data" / "labelled"
PARTS = ("tuned", "aside", "model")


class About(Record):
    """What a check must know of the task behind a labelled trace."""

    task: str
    metric: str
    direction: str
    script: str = "train.py"
    submission: tuple[str, ...]
    starter: tuple[float, float, int]
    """Mean, standard deviation and number of the starter's measured scores."""
    sd_floor: float
    timed: bool = False
    steps: int
    minutes: float


class Labelled(Record):
    """One trace, and at which steps each check should find something."""

    trace: str
    part: str
    origin: str
    about: About
    score: float | None = None
    submission_error: str | None = None
    labels: dict[str, tuple[int, ...]]


class Quality(Record):
    """What a check found, counted against what it should have found."""

    hits: int = 0
    false_alarms: int = 0
    misses: int = 0
    clean: int = 0
    """Steps that are rightly left alone."""

    @property
    def precision(self) -> float:
        """The share of findings that are right; 1 where there are none."""
        found = self.hits + self.false_alarms
        return self.hits / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of labelled steps that were found; 1 where there are none."""
        labelled = self.hits + self.misses
        return self.hits / labelled if labelled else 1.0

    def plus(self, other: "Quality") -> "Quality":
        """Return both counts together."""
        return Quality(
            hits=self.hits + other.hits,
            false_alarms=self.false_alarms + other.false_alarms,
            misses=self.misses + other.misses,
            clean=self.clean + other.clean,
        )


def labelled(part: str) -> list[Labelled]:
    """Read one part of the set."""
    lines = (LABELLED / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [Labelled.model_validate_json(line) for line in lines]
    return [entry for entry in entries if entry.part == part]


def trace_of(entry: Labelled) -> Trace:
    """Read the trace behind a line of labels."""
    return read_trace(LABELLED / f"{entry.trace}.jsonl", entry.trace)


def view_of(entry: Labelled) -> RunView:
    """Return a labelled trace as the checks read it."""
    task, trace = task_of(entry.about), trace_of(entry)
    return RunView(task, trace, entry.score, entry.submission_error)


def task_of(about: About) -> Task:
    """Return as much of a task as the checks look at."""
    mean, sd, n = about.starter
    baseline = Baseline(mean=mean, sd=sd, n=n, date="")
    grading = Grading(visible_inputs="i", visible_truth="t", timed=True)
    return Task.model_validate(
        {
            "id": about.task, "version": 1, "title": "", "category": "",
            "modality": "", "metric": about.metric, "direction": about.direction,
            "unit": "", "script": about.script, "submission": about.submission,
            "perfect": 0.0, "sd_floor": about.sd_floor, "edition": "mini",
            "grading": grading if about.timed else None, "folder": Path("/nowhere"),
            "budget": {"steps": about.steps, "minutes": about.minutes},
            "data": Edition(data=DataKind.REAL, summary="", size_mb=1),
            "measured": Measured(starter=baseline, reference=baseline, digest=""),
        }
    )  # fmt: skip


def quality(part: str) -> dict[str, Quality]:
    """Count hits and misses of every check over one part of the set."""
    total = {name: Quality() for name in CHECKS}
    for entry in labelled(part):
        view = view_of(entry)
        for name, check in CHECKS.items():
            found = {finding.steps[0] for finding in check(view)}
            counted = _counted(view, found, set(entry.labels.get(name, ())))
            total[name] = total[name].plus(counted)
    return total


def _counted(view: RunView, found: set[int], meant: set[int]) -> Quality:
    steps = {step.step for step in view.steps}
    return Quality(
        hits=len(found & meant),
        false_alarms=len(found - meant),
        misses=len(meant - found),
        clean=len(steps - found - meant),
    )


def table(part: str) -> str:
    """Write one part's numbers down as text."""
    rows = [f"{part:24} precision  recall  labelled  steps"]
    for name, one in quality(part).items():
        positives = one.hits + one.misses
        steps = positives + one.false_alarms + one.clean
        precision = _share(one.precision, of=one.hits + one.false_alarms)
        recall = _share(one.recall, of=positives)
        rows.append(f"{name:24} {precision:>9}  {recall:>6}  {positives:8}  {steps:5}")
    return "\n".join(rows)


def _share(value: float, *, of: int) -> str:
    return f"{value:.3f}" if of else "-"


def mistakes(part: str) -> list[str]:
    """Name every finding that is not labelled, and every label not found."""
    told = []
    for entry in labelled(part):
        view = view_of(entry)
        for name, check in CHECKS.items():
            found = {one.steps[0]: one.quote for one in check(view)}
            meant = set(entry.labels.get(name, ()))
            told += [
                f"false alarm: {entry.trace} {step} {name}: {quote}"
                for step, quote in found.items()
                if step not in meant
            ]
            told += [f"missed: {entry.trace} {at} {name}" for at in meant - set(found)]
    return told


def main() -> None:
    """Print every part, and what is wrong in each."""
    for part in PARTS:
        sys.stdout.write(f"{table(part)}\n\n")
        sys.stdout.write("".join(f"{line}\n" for line in mistakes(part)) + "\n")


if __name__ == "__main__":
    main()
