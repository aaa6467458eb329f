"""The judge's child process: caps itself, grades once, prints one JSON line."""

import json
import math
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Grade
from mlagentbench.run.judges.case import Case
from mlagentbench.run.lifeline import die_with
from mlagentbench.tasks.catalogue import load_task
from mlagentbench.tasks.loader import load_grade


def main(arguments: list[str]) -> None:
    """Grade as told by the parent."""
    told, parent = arguments
    case = Case.model_validate_json(told)
    hear(case, lambda: grader_of(case.folder, case.edition), parent=int(parent))


def grader_of(folder: Path, edition: str) -> Grade:
    """Import a task's grader."""
    return load_grade(load_task(folder, edition=edition))


def hear(case: Case, grader: Callable[[], Grade], *, parent: int) -> None:
    """Grade within caps, and print what came of it; dies with `parent`."""
    die_with(parent)
    cap = case.memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = _grade(case, grader)
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def _grade(case: Case, grader: Callable[[], Grade]) -> dict[str, object]:
    try:
        return _finite(grader()(case.answers, case.truth))
    except SubmissionError as error:
        return {"submission_error": str(error)}
    except MemoryError:
        return {"submission_error": "judging it took more memory than a judge has"}
    except Exception as error:  # noqa: BLE001  # whatever a grader raises is its fault
        return {"grader_error": f"{type(error).__name__}: {error}"}


def _finite(score: float) -> dict[str, object]:
    if not math.isfinite(score):
        return {"grader_error": f"the score is {score}, not a finite number"}
    return {"score": float(score)}


if __name__ == "__main__":
    main(sys.argv[1:])
