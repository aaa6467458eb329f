"""The checks of a task, one function each; their names are in checks.json."""

import math
import shutil
import statistics
from pathlib import Path

from scipy.special import stdtrit

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Aggregate,
    Direction,
    Graded,
    GraderError,
    Measured,
    Scale,
    Task,
    Units,
)
from mlagentbench.tasks.check.evidence import (
    Attempt,
    Subject,
    Verdict,
    failed,
    passed,
    passed_unless,
)
from mlagentbench.tasks.digest import sha256_of, task_digest
from mlagentbench.tasks.load import CANARY, problem, read_table
from mlagentbench.tasks.prepare import SAME_TIME, run_prepare, verify
from mlagentbench.tasks.sources import fetch
from mlagentbench.tasks.task_code import load_grade


def data_is_as_prepared(subject: Subject) -> Verdict:
    """Hash all files again; file times must reveal nothing either."""
    problems = verify(subject.prepared)
    public = subject.prepared.public
    times = {int(path.stat().st_mtime) for path in (public, *public.rglob("*"))}
    if times != {SAME_TIME}:
        problems.append("files in public/ differ in age")
    return passed_unless(
        problems, "every file is as its manifest says, and equally old"
    )


def labels_do_not_leak(subject: Subject) -> Verdict:
    """Alter every held-out label and prepare again: public/ must stay the same."""
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
    problems += [
        f"prepare(tamper=True) leaves {untouched} labels in {truth} as they are"
        for truth in _hidden_labels(subject.task)
        if (untouched := _unaltered(truth, honest, altered))
    ]
    return passed_unless(
        problems, "altering every held-out label leaves public/ the same"
    )


def _hidden_labels(task: Task) -> list[str]:
    """Return the files of labels that no agent may see, under `private/`."""
    found = [task.truth]
    if task.validation is not None and task.validation.hidden:
        found.append(task.validation.truth)
    if task.grading is not None and task.grading.validation_truth is not None:
        found.append(task.grading.validation_truth)
    return found


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


def _unaltered(truth: str, honest: Path, altered: Path) -> int:
    """Count lines of the truth that tampering left; a binary truth is one line."""
    name = Path("private", truth)
    if name.suffix != ".csv":
        return int((honest / name).read_bytes() == (altered / name).read_bytes())
    before = (honest / name).read_text(encoding="utf-8").splitlines()[1:]
    after = {*(altered / name).read_text(encoding="utf-8").splitlines()[1:]}
    return sum(line in after for line in before)


MIN_RUNS = 8
"""Fewer measured runs do not show the starter's noise."""
LEAST_SHARE_OF_REFERENCE = 0.10
"""If higher is better, any success over a lower starter is enormous."""


def declarations_are_complete(subject: Subject) -> Verdict:
    """Require direction, budget, scripts, and a problem that names the submission."""
    task = subject.task
    table = read_table(task.folder)
    statement = problem(task)
    problems = [
        f"task.toml does not declare {field}"
        for field in ("direction", "budget", "submission", "perfect")
        if field not in table
    ]
    problems += [
        f"{solution}/ has no {task.script}"
        for solution in ("starter", "reference")
        if not (task.part(solution) / task.script).is_file()
    ]
    problems += [
        f"problem.md does not name {name}"
        for name in task.submission
        if name not in statement
    ]
    if task.scale is not Scale.LINEAR and not task.scale_reason:
        problems.append(f"task.toml gives no scale_reason for the scale {task.scale}")
    grading = task.grading
    if grading and bool(grading.validation_inputs) != bool(grading.validation_truth):
        problems.append("validation_inputs and validation_truth need each other")
    return passed_unless(problems, "everything is declared")


def canary_is_present(subject: Subject) -> Verdict:
    """Require the line that keeps the folder out of training corpora."""
    task, names = subject.task, ("README.md", "task.toml")
    paths = [task.folder / name for name in names] + [task.part(name) for name in names]
    unmarked = [
        path.relative_to(task.folder).as_posix()
        for path in dict.fromkeys(paths)
        if CANARY not in path.read_text(encoding="utf-8")
    ]
    if unmarked:
        return failed(f"{' and '.join(unmarked)} must hold the line: {CANARY}")
    return passed("the canary is in place")


def baseline_is_measured(subject: Subject) -> Verdict:
    """Require enough measured runs of this version of the folder."""
    task, measured = subject.task, subject.measured
    known, problems = measured.starter, []
    if measured.digest != task_digest(task.folder, task.edition):
        problems.append(
            f"the folder changed since it was measured: run mlab measure {task.id}"
        )
    if known.n < MIN_RUNS:
        problems.append(
            f"the starter was measured {known.n} times, {MIN_RUNS} are needed"
        )
    found = f"starter {known.mean:.6g} +- {known.sd:.3g} ({known.n} runs)"
    return passed_unless(problems, found)


def baseline_is_usable(subject: Subject) -> Verdict:
    """Refuse a starter on which improvement cannot be measured."""
    problems = _unusable_mean(subject.task, subject.measured)
    scores = subject.measured.starter.scores
    lucky = sum(subject.improvement(score) > SUCCESS_THRESHOLD for score in scores)
    if lucky:
        problems.append(
            f"{lucky} of {len(scores)} unmodified starters succeed by noise alone; "
            "enlarge the test set"
        )
    return passed_unless(
        problems, f"no starter run of {subject.measured.starter.n} succeeds by itself"
    )


def _unusable_mean(task: Task, measured: Measured) -> list[str]:
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


def perfect_answers_are_perfect(subject: Subject) -> Verdict:
    """Grade the truth itself."""
    wanted, found = subject.task.perfect, subject.perfect
    if found is None:
        return passed("does not apply: no submission is known to be perfect")
    if found.score is None:
        return failed(f"perfect answers are refused: {found.error}")
    if not math.isclose(found.score, wanted, rel_tol=1e-9, abs_tol=1e-9):
        return failed(f"perfect answers score {found.score!r} instead of {wanted!r}")
    return passed(f"perfect answers score {found.score:g}")


def nothing_beats_perfect(subject: Subject) -> Verdict:
    """Compare all scores with the perfect score."""
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
    return passed_unless(problems, f"nothing is better than {subject.task.perfect:g}")


def ignorance_is_no_better_than_the_starter(subject: Subject) -> Verdict:
    """Grade answers that were made without the inputs."""
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
    return passed_unless(
        problems, f"{', '.join(subject.weak)} answers are valid and no better"
    )


def _wrong_outputs_are_refused(subject: Subject) -> Verdict:
    # A time counts only if every output is right.
    problems = [
        f"{name} outputs are accepted and score {found.score:.6g}"
        for name, found in subject.weak.items()
        if found.score is not None
    ]
    return passed_unless(
        problems, f"refused as wrong: {', '.join(subject.weak)} outputs"
    )


def units_give_the_score(subject: Subject) -> Verdict:
    """Compute scores from the grader's units, as a resample of them is scored."""
    if subject.task.grading is not None:
        return passed("does not apply: outputs of submitted code are graded")
    grade, problems, counted = load_grade(subject.task), [], 0
    for name, path in subject.graded_probes.items():
        found = grade(path, subject.truth)
        if not isinstance(found, Graded) or found.units is None:
            continue
        counted += 1
        units = found.units
        if not isinstance(units, Units):
            units = Units(values=tuple((value,) for value in units))
        score = _score_of(units)
        if not math.isclose(score, found.score, rel_tol=1e-9, abs_tol=1e-9):
            problems.append(
                f"units of {name} answers give {score!r}, the grader {found.score!r}"
            )
    if not counted:
        return passed("does not apply: the grader returns no units")
    return passed_unless(problems, f"units give the score of {counted} sets of answers")


def _score_of(units: Units) -> float:
    columns = list(zip(*units.values, strict=True))
    match units.aggregate:
        case Aggregate.MEDIAN:
            return float(statistics.median(columns[0]))
        case Aggregate.RATIO:
            return math.fsum(columns[0]) / math.fsum(columns[1])
        case Aggregate.ROOT_MEANS:
            return statistics.fmean(math.sqrt(statistics.fmean(c)) for c in columns)
        case Aggregate.MEAN:
            return statistics.fmean(columns[0])


def malformed_answers_are_refused(subject: Subject) -> Verdict:
    """Grade malformed answers: each must be refused, none may break the grader."""
    problems = []
    for name, path in subject.probes.malformed.items():
        try:
            found = subject.grade(path)
        except GraderError as error:
            problems.append(f"{name} breaks the grader ({error})")
            continue
        if found.score is not None:
            problems.append(f"{name} is accepted and scores {found.score:.6g}")
    return passed_unless(problems, f"refused: {', '.join(subject.probes.malformed)}")


def grading_repeats_to_the_byte(subject: Subject) -> Verdict:
    """Grade the same answers again and compare every digit."""
    if subject.timed:
        return passed("does not apply: a time is never twice the same")
    first, paths = dict(subject.weak), subject.graded_probes
    if subject.perfect is not None:
        first["perfect"] = subject.perfect
    again = {name: subject.grade(path) for name, path in paths.items()}
    problems = [
        f"{name} answers scored {first[name].score!r}, then {again[name].score!r}"
        for name in paths
        if repr(first[name].score) != repr(again[name].score)
    ]
    return passed_unless(problems, "the same answers score the same, to the last digit")


STARTER_SECONDS = 60.0
REFERENCE_SECONDS = 180.0
REFERENCE_FACTOR = 1.5
"""A reference improves by at least this many times the success threshold."""
_CONFIDENCE = 0.99
"""Runs are compared at 95 %, but a valid task should fail its check once in a hundred
times, not in twenty."""


def starter_scores_as_measured(subject: Subject) -> Verdict:
    """Run the starter and compare its score with its measured noise."""
    score = subject.starter.score
    if score is None:
        return failed(f"the starter has no score: {subject.starter.error}")
    known = subject.measured.starter
    spread = max(known.sd, subject.task.sd_floor)
    width = stdtrit(known.n - 1, (1 + _CONFIDENCE) / 2) * spread
    width *= math.sqrt(1 + 1 / known.n)
    compared = f"{score:.6g}, measured {known.mean:.6g} +- {width:.3g}"
    if abs(score - known.mean) > width:
        return failed(f"the starter does not score as measured: {compared}")
    return _in_time(subject.starter, STARTER_SECONDS, f"the starter scores {compared}")


def reference_clears_the_bar(subject: Subject) -> Verdict:
    """Run the reference: the task must be possible."""
    score = subject.reference.score
    if score is None:
        return failed(f"the reference has no score: {subject.reference.error}")
    improvement = subject.improvement(score)
    needed = REFERENCE_FACTOR * SUCCESS_THRESHOLD
    compared = f"the reference improves by {improvement:.1%} ({score:.6g})"
    if improvement < needed:
        return failed(f"{compared}, {needed:.0%} is needed")
    return _in_time(subject.reference, REFERENCE_SECONDS, compared)


def direction_is_right(subject: Subject) -> Verdict:
    """Compare scores whose order is known, to find a flipped direction."""
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
    direction = subject.task.direction
    if problems:
        problems.append(f"is {direction} really better? It looks flipped")
    return passed_unless(problems, f"{direction} is better, as declared")


def _in_time(attempt: Attempt, allowed: float, detail: str) -> Verdict:
    used = attempt.seconds
    if used > allowed:
        return failed(f"{detail}, but took {used:.0f} CPU s of {allowed:.0f}")
    return passed(f"{detail}, in {used:.1f} CPU s")
