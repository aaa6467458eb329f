"""Does the grader tell good answers from bad ones, and refuse what is none?"""

import math

from mlagentbench.core.errors import GraderError
from mlagentbench.tasks.check.bench import Verdict, failed, passed
from mlagentbench.tasks.check.subject import Subject


def perfect_answers_are_perfect(subject: Subject) -> Verdict:
    """Judge the truth itself."""
    wanted, found = subject.task.perfect, subject.perfect
    if found is None:
        return passed("does not apply: no submission is known to be perfect")
    if found.score is None:
        return failed(f"perfect answers are refused: {found.error}")
    if not math.isclose(found.score, wanted, rel_tol=1e-9, abs_tol=1e-9):
        return failed(f"perfect answers score {found.score!r} instead of {wanted!r}")
    return passed(f"perfect answers score {found.score:g}")


def nothing_beats_perfect(subject: Subject) -> Verdict:
    """Compare every score at hand with the best there can be."""
    attempts = {
        "the starter": subject.starter,
        "the reference": subject.reference,
        **{f"the {name} answer": found for name, found in subject.weak.items()},
    }
    problems = [
        f"{name} scores {found.score:.6g}, better than perfect"
        for name, found in attempts.items()
        if found.score is not None and subject.better(found.score, subject.task.perfect)
    ]
    if problems:
        return failed(*problems)
    return passed(f"nothing is better than {subject.task.perfect:g}")


def ignorance_is_no_better_than_the_starter(subject: Subject) -> Verdict:
    """Judge answers that know nothing of the inputs."""
    if subject.timed:
        return _wrong_outputs_are_refused(subject)
    starter = subject.measured.starter.mean
    problems = []
    for name, found in subject.weak.items():
        if found.score is None:
            problems.append(f"{name} answers are refused: {found.error}")
        elif subject.better(found.score, starter):
            problems.append(
                f"{name} answers score {found.score:.6g}, "
                f"better than the starter's {starter:.6g}"
            )
    if problems:
        return failed(*problems)
    return passed(f"{', '.join(subject.weak)} answers are valid and no better")


def _wrong_outputs_are_refused(subject: Subject) -> Verdict:
    # However fast they are: a time counts only where every output is right.
    problems = [
        f"{name} outputs are accepted and score {found.score:.6g}"
        for name, found in subject.weak.items()
        if found.score is not None
    ]
    if problems:
        return failed(*problems)
    return passed(f"refused as wrong: {', '.join(subject.weak)} outputs")


def malformed_answers_are_refused(subject: Subject) -> Verdict:
    """Judge what is no answer: each must be refused, none may break the grader."""
    problems = []
    for name, path in subject.probes.malformed.items():
        try:
            found = subject.judge(path)
        except GraderError as error:
            problems.append(f"{name} breaks the grader ({error})")
            continue
        if found.score is not None:
            problems.append(f"{name} is accepted and scores {found.score:.6g}")
    if problems:
        return failed(*problems)
    return passed(f"refused: {', '.join(subject.probes.malformed)}")


def grading_repeats_to_the_byte(subject: Subject) -> Verdict:
    """Judge the same answers again and compare every digit."""
    if subject.timed:
        return passed("does not apply: a time is never twice the same")
    first, paths = dict(subject.weak), dict(subject.probes.weak)
    if subject.perfect is not None and subject.probes.perfect is not None:
        first["perfect"], paths["perfect"] = subject.perfect, subject.probes.perfect
    again = {name: subject.judge(path) for name, path in paths.items()}
    problems = [
        f"{name} answers scored {first[name].score!r}, then {again[name].score!r}"
        for name in paths
        if repr(first[name].score) != repr(again[name].score)
    ]
    if problems:
        return failed(*problems)
    return passed("the same answers score the same, to the last digit")
