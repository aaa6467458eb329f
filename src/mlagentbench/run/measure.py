"""Known solutions run through the pipeline, for `mlab check` and `mlab measure`."""

import asyncio
import math
import statistics
import threading
from pathlib import Path
from typing import Self

from mlagentbench.core import (
    Baseline,
    Measured,
    RunObserver,
    Scorecard,
    Task,
    TaskError,
    require_linux,
    scratch_folder,
    utc_now,
)
from mlagentbench.environment import cpu_seconds_of_sandboxes
from mlagentbench.experiment import Plan, last_attempts
from mlagentbench.grading import grade_answers, grade_saved
from mlagentbench.run.pipeline import run
from mlagentbench.tasks import Attempt, Prepared, Solution, prepare_task, task_digest

_SAMPLE_SECONDS = 0.25


class PipelineBench:
    """Runs known solutions in the real sandbox, through the real pipeline."""

    def __init__(self, cache: Path, observer: RunObserver) -> None:
        require_linux("a run")
        self._cache = cache
        self._observer = observer

    def solve(
        self,
        task: Task,
        prepared: Prepared,  # noqa: ARG002  # the pipeline finds it in the cache
        solution: Solution,
        seed: int,
    ) -> Attempt:
        with _CpuMeter() as meter:
            card = self.solve_all(task, solution, (seed,), parallel=1)[-1]
        ending = None if card.score is not None else f"the run ended {card.ending}"
        return Attempt(
            score=card.score,
            error=card.submission_error or card.reason or ending,
            seconds=meter.seconds,
        )

    def grade(self, task: Task, answers: Path, truth: Path) -> Attempt:
        """Grade answers in a capped child; run code in a grading sandbox before."""
        if task.grading is None:
            verdict = asyncio.run(grade_answers(task, answers, truth))
        else:
            prepared = prepare_task(task, self._cache)
            verdict = asyncio.run(grade_saved(task, prepared, answers))
        return Attempt(score=verdict.score, error=verdict.submission_error, seconds=0)

    def solve_all(
        self, task: Task, solution: Solution, seeds: tuple[int, ...], *, parallel: int
    ) -> list[Scorecard]:
        with scratch_folder() as scratch:
            plan = Plan(
                tasks=(str(task.folder),),
                agent=solution,
                edition=task.edition,
                seeds=seeds,
                parallel=parallel,
                out=scratch,
            )
            experiment = run(plan, cache=self._cache, observer=self._observer)
            cards = experiment.scorecards
        return sorted(last_attempts(cards), key=lambda card: card.seed)


class _CpuMeter:
    """CPU seconds of this process's sandboxes: a busy machine does not add to them.

    Sandboxes are sampled while they run, because bubblewrap ends without waiting for
    its children, so the kernel does not report their total. The last interval of an
    execution is not counted.
    """

    def __init__(self) -> None:
        self._used: dict[int, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    @property
    def seconds(self) -> float:
        return sum(self._used.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stopped.wait(_SAMPLE_SECONDS):
            for pid, used in cpu_seconds_of_sandboxes().items():
                self._used[pid] = max(used, self._used.get(pid, 0.0))


def measure_task(
    task: Task, bench: PipelineBench, *, runs: int, parallel: int
) -> Measured:
    """Measure the scores of starter and reference over seeds."""
    seeds = tuple(range(runs))
    scores: dict[Solution, Baseline] = {}
    for solution in ("starter", "reference"):
        cards = bench.solve_all(task, solution, seeds, parallel=parallel)
        scores[solution] = _baseline(task, solution, cards)
    return Measured(**scores, digest=task_digest(task.folder))


def _baseline(task: Task, solution: Solution, cards: list[Scorecard]) -> Baseline:
    failed = next((card for card in cards if card.score is None), None)
    if failed is not None:
        why = failed.submission_error or failed.reason
        raise TaskError(f"the {solution} of {task.id} has no score: {why}")
    scores = tuple(card.score for card in cards if card.score is not None)
    # The starter takes exactly its own time; a measured ratio would only add noise.
    exact = solution == "starter" and task.grading is not None and task.grading.timed
    return Baseline(
        mean=1.0 if exact else math.fsum(scores) / len(scores),
        sd=statistics.stdev(scores) if len(scores) > 1 else 0.0,
        n=len(scores),
        date=utc_now()[:10],
        scores=scores,
    )
