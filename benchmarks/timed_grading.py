"""The spread of timed scores: gradings of the same submission while a core is busy.

The references of llama-inference and vectorization are graded twenty times each. Every
grading must give the same verdict: at least three and ten times as fast as the
starter. It takes about 25 minutes, so `make bench` leaves it out. Run it by name:

    python benchmarks/all.py timed_grading
"""

import asyncio
import multiprocessing
import os
import statistics
import sys

from mlagentbench.core.cache import default_cache
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task

GRADINGS = 20
LIMITS = {"llama-inference": 1 / 3, "vectorization": 0.10}
"""The highest score of each grading, by task; 1 is the starter's time."""


def main() -> int:
    """Grade beside a process that keeps a core busy."""
    burner = multiprocessing.get_context("spawn").Process(target=burn, daemon=True)
    burner.start()
    try:
        over = [name for name, limit in LIMITS.items() if not within(name, limit)]
    finally:
        burner.kill()
    return 1 if over else 0


def within(name: str, limit: float) -> bool:
    """Grade one reference many times; tell whether every score is within the limit."""
    task = load_task(name)
    prepared = prepare_task(task, default_cache())
    scores = []
    for _ in range(GRADINGS):
        verdict = asyncio.run(grade_saved(task, prepared, task.folder / "reference"))
        if verdict.score is None:
            raise SystemExit(f"{name}: no score: {verdict.submission_error}")
        scores.append(verdict.score)
    spread = statistics.stdev(scores) / statistics.mean(scores)
    print(
        f"{name}: {GRADINGS} gradings, {min(scores):.4f} to {max(scores):.4f}"
        f" (at most {limit:.2f}), sd {spread:.1%}",
        flush=True,
    )
    return max(scores) <= limit


def burn() -> None:
    """Keep a core busy until the parent is gone."""
    parent = os.getppid()
    while os.getppid() == parent:
        pass


if __name__ == "__main__":
    sys.exit(main())
