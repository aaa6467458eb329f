"""The judge's child process: caps itself, grades once, prints one JSON line."""

import json
import math
import resource
import sys
from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.run.lifeline import die_with
from mlagentbench.tasks.catalogue import load_task
from mlagentbench.tasks.loader import load_grade


def main(arguments: list[str]) -> None:
    """Grade as told by the parent."""
    folder, edition, answers, truth, memory_mb, parent = arguments
    die_with(int(parent))
    cap = int(memory_mb) * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = _grade(Path(folder), edition, Path(answers), Path(truth))
    sys.stdout.write(json.dumps(said) + "\n")


def _grade(folder: Path, edition: str, answers: Path, truth: Path) -> dict[str, object]:
    try:
        return _finite(load_grade(load_task(folder, edition=edition))(answers, truth))
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
