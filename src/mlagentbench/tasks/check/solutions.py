"""Do the known solutions run, and do their scores say what they should?"""

import math

from mlagentbench.core.task import SUCCESS_BAR
from mlagentbench.tasks.check.bench import Attempt, Verdict, failed, passed
from mlagentbench.tasks.check.subject import Subject

STARTER_SECONDS = 60.0
REFERENCE_SECONDS = 180.0
CLEAR_OF_THE_BAR = 1.5
"""A reference improves by at least this many times the bar of success."""
_T_99 = (
    (1, 63.657),
    (2, 9.925),
    (3, 5.841),
    (4, 4.604),
    (5, 4.032),
    (6, 3.707),
    (7, 3.499),
    (8, 3.355),
    (9, 3.250),
    (10, 3.169),
    (15, 2.947),
    (20, 2.845),
    (30, 2.750),
)
"""Student's t, two-sided 99 %, by degrees of freedom. Wider than the 95 % that runs
are judged by: a sound task should fail its check once in a hundred times, not in
twenty."""


def starter_scores_as_measured(subject: Subject) -> Verdict:
    """Run the starter and compare its score with its measured noise."""
    score = subject.starter.score
    if score is None:
        return failed(f"the starter has no score: {subject.starter.error}")
    known = subject.measured.starter
    spread = max(known.sd, subject.task.sd_floor)
    width = _t(known.n - 1) * spread * math.sqrt(1 + 1 / known.n)
    compared = f"{score:.6g}, measured {known.mean:.6g} +- {width:.3g}"
    if abs(score - known.mean) > width:
        return failed(f"the starter does not score as measured: {compared}")
    return _in_time(subject.starter, STARTER_SECONDS, f"the starter scores {compared}")


def reference_clears_the_bar(subject: Subject) -> Verdict:
    """Run the reference: the task must be known to be possible."""
    score = subject.reference.score
    if score is None:
        return failed(f"the reference has no score: {subject.reference.error}")
    improvement = subject.improvement(score)
    needed = CLEAR_OF_THE_BAR * SUCCESS_BAR
    compared = f"the reference improves by {improvement:.1%} ({score:.6g})"
    if improvement < needed:
        return failed(f"{compared}, {needed:.0%} is needed")
    return _in_time(subject.reference, REFERENCE_SECONDS, compared)


def direction_is_right(subject: Subject) -> Verdict:
    """Compare scores whose order is known: the direction may be flipped."""
    starter = subject.measured.starter.mean
    known_better = {
        "the reference": subject.reference.score,
        "a perfect answer": subject.perfect.score if subject.perfect else None,
    }
    problems = [
        f"{name} scores {score:.6g}, worse than the starter's {starter:.6g}"
        for name, score in known_better.items()
        if score is not None and subject.better(starter, score)
    ]
    if problems:
        flipped = f"is {subject.task.direction} really better? It looks flipped"
        return failed(*problems, flipped)
    return passed(f"{subject.task.direction} is better, as declared")


def _in_time(attempt: Attempt, allowed: float, detail: str) -> Verdict:
    if attempt.seconds > allowed:
        return failed(f"{detail}, but took {attempt.seconds:.0f} s of {allowed:.0f} s")
    return passed(f"{detail}, in {attempt.seconds:.1f} s")


def _t(freedom: int) -> float:
    """Look up the next smaller number of degrees, which errs on the wide side."""
    return next((t for df, t in reversed(_T_99) if df <= freedom), math.inf)
