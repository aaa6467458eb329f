"""What the original's own evaluation said of its runs: a JSON file keyed by path."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from mlagentbench.core.errors import UsageError
from mlagentbench.evaluation.budgets import StepVerdict
from mlagentbench.evaluation.judgement import Verdict
from mlagentbench.run.importing.reading import LogTree
from mlagentbench.run.importing.texts import as_count, as_number

_TAIL = ("env_log", "trace.json")


class Results:
    """Scores by run."""

    def __init__(self, by_path: dict[tuple[str, ...], object]) -> None:
        self._by_path = by_path

    def of(self, run: tuple[str, ...], tree: LogTree) -> Verdict | None:
        """Find what was said of the run whose path ends so; None where nothing was.

        Whoever evaluated may have started from another folder, so that paths are
        compared from their ends.
        """
        found = [key for key in self._by_path if _is_same(key, run)]
        if len(found) > 1:
            tree.warn("/".join(run), f"{len(found)} results fit it; none is taken")
        if len(found) != 1:
            return None
        said = self._by_path[found[0]]
        return verdict_of(said) if isinstance(said, dict) else None


def read_results(files: Sequence[Path], tree: LogTree) -> Results:
    """Read results files; a broken one becomes a warning."""
    by_path: dict[tuple[str, ...], object] = {}
    for file in files:
        if not file.is_file():
            raise UsageError(f"there is no file {file}")
        beside = LogTree(file.parent)
        held = beside.json(file.name)
        tree.warnings += beside.warnings
        if isinstance(held, dict):
            by_path |= {_run_of(str(path)): said for path, said in held.items()}
        elif not beside.warnings:
            tree.warn(file.name, "not read: it is no object keyed by path")
    return Results(by_path)


def verdict_of(said: dict[object, object]) -> Verdict:
    """Take the scores; as in the original, zero and below mean no submission."""
    score = _score(said.get("final_score"))
    error = None if score is not None else "the original's evaluation found no score"
    return Verdict(score=score, submission_error=error, steps=_steps(said))


def _steps(said: dict[object, object]) -> tuple[StepVerdict, ...]:
    scores, numbers = said.get("score"), said.get("score_steps")
    if not isinstance(scores, list) or not isinstance(numbers, list):
        return ()
    # The final score stands last; where a step's is missing, none can be placed.
    if len(scores) not in (len(numbers), len(numbers) + 1):
        return ()
    placed = zip(map(as_count, numbers), map(_score, scores), strict=False)
    return tuple(
        StepVerdict(step=number + 1, score=score)
        for number, score in placed
        if number is not None and number >= 0
    )


def _score(value: object) -> float | None:
    number = as_number(value)
    return number if number is not None and number > 0 else None


def _run_of(path: str) -> tuple[str, ...]:
    parts = PurePosixPath(path[:4_000].replace("\\", "/")).parts
    return parts[:-2] if parts[-2:] == _TAIL else parts


def _is_same(key: tuple[str, ...], run: tuple[str, ...]) -> bool:
    shorter = min(len(key), len(run))
    return shorter > 0 and key[-shorter:] == run[-shorter:]
