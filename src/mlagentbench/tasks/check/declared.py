"""Is everything declared, measured and marked?"""

from mlagentbench.core.task import SUCCESS_BAR, Baseline, Direction, Measured, Task
from mlagentbench.tasks.canary import CANARY
from mlagentbench.tasks.check.bench import Verdict, failed, passed
from mlagentbench.tasks.check.subject import Subject
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.folder import read_table
from mlagentbench.tasks.problem import problem

LEAST_RUNS = 8
"""Fewer measured runs say too little about the starter's noise."""
LEAST_SHARE_OF_REFERENCE = 0.10
"""Where more is better, a starter below this makes any success enormous."""


def declarations_are_complete(subject: Subject) -> Verdict:
    """Ask for direction, budget, scripts, and a problem that names what to submit."""
    task = subject.task
    table = read_table(task.folder)
    told = problem(task)
    problems = [
        f"task.toml does not declare {field}"
        for field in ("direction", "budget", "submission", "perfect")
        if field not in table
    ]
    problems += [
        f"{solution}/ has no {task.script}"
        for solution in ("starter", "reference")
        if not (task.folder / solution / task.script).is_file()
    ]
    problems += [
        f"problem.md does not name {name}"
        for name in task.submission
        if name not in told
    ]
    return failed(*problems) if problems else passed("everything is declared")


def canary_is_present(subject: Subject) -> Verdict:
    """Ask for the mark that keeps the folder out of training corpora."""
    unmarked = [
        name
        for name in ("README.md", "task.toml")
        if CANARY not in (subject.task.folder / name).read_text(encoding="utf-8")
    ]
    if unmarked:
        return failed(f"{' and '.join(unmarked)} must hold the line: {CANARY}")
    return passed("the canary is in place")


def baseline_is_measured(subject: Subject) -> Verdict:
    """Ask for enough measured runs of this very folder."""
    task, measured = subject.task, subject.measured
    problems = []
    if measured.digest != task_digest(task.folder):
        problems.append(
            f"the folder changed since it was measured: run mlab measure {task.id}"
        )
    if measured.starter.n < LEAST_RUNS:
        problems.append(
            f"the starter was measured {measured.starter.n} times, "
            f"{LEAST_RUNS} are needed"
        )
    if problems:
        return failed(*problems)
    return passed(f"starter {_shown(measured.starter)}")


def baseline_is_usable(subject: Subject) -> Verdict:
    """Refuse a starter from which no sensible improvement can be counted."""
    problems = [
        *_senseless_mean(subject.task, subject.measured),
        *_lucky_runs(subject),
    ]
    if problems:
        return failed(*problems)
    return passed(f"no starter run of {subject.measured.starter.n} succeeds by itself")


def _senseless_mean(task: Task, measured: Measured) -> list[str]:
    mean, best = measured.starter.mean, measured.reference.mean
    higher = task.direction is Direction.HIGHER
    if mean == 0:
        return ["the starter's mean is zero, so no improvement can be counted"]
    if mean < 0 and (task.perfect > 0 or not higher):
        return [f"the starter's mean is {mean:g}, below zero"]
    if higher and mean < LEAST_SHARE_OF_REFERENCE * best:
        return [
            f"the starter's mean {mean:g} is under "
            f"{LEAST_SHARE_OF_REFERENCE:.0%} of the reference's {best:g}"
        ]
    return []


def _lucky_runs(subject: Subject) -> list[str]:
    scores = subject.measured.starter.scores
    lucky = [score for score in scores if subject.improvement(score) > SUCCESS_BAR]
    if not lucky:
        return []
    return [
        f"{len(lucky)} of {len(scores)} unmodified starters succeed by noise alone; "
        "enlarge the test set"
    ]


def _shown(baseline: Baseline) -> str:
    return f"{baseline.mean:.6g} +- {baseline.sd:.3g} ({baseline.n} runs)"
