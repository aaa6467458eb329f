"""Known solutions run through the pipeline, for `mlab check` and `mlab measure`."""

import asyncio
import math
import statistics
from pathlib import Path
from typing import NamedTuple

from mlagentbench.core import (
    Baseline,
    Measured,
    RunObserver,
    Scorecard,
    Task,
    TaskError,
    Trace,
    Units,
    require_linux,
    scratch_folder,
    utc_now,
)
from mlagentbench.experiment import Plan, last_attempts
from mlagentbench.grading import grade_answers, grade_saved
from mlagentbench.run.pipeline import run
from mlagentbench.tasks import (
    Attempt,
    Prepared,
    Solution,
    prepare_task,
    task_digest,
    write_units,
)

TUNED_RUNS = 4
"""Seeds of the tuning baseline: each takes as long as 20 runs of the starter."""
_AGENTS: dict[str, tuple[str, dict[str, str]]] = {
    "starter": ("starter", {}),
    "reference": ("reference", {}),
    # The tuner executes its best trial once more, so it makes 20 executions.
    "tuned": ("tuner", {"trials": "19"}),
}
"""The agent, and its settings, that measures each baseline."""


class Solved(NamedTuple):
    """One run of a known solution."""

    card: Scorecard
    validation: float | None
    """The validation score of its submission, as the harness measured it."""
    units: Units | None


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
        card = self.solve_all(task, solution, (seed,), parallel=1)[-1].card
        ending = None if card.score is not None else f"the run ended {card.ending}"
        return Attempt(
            score=card.score,
            error=card.submission_error or card.reason or ending,
            # A busy machine does not add to CPU seconds.
            seconds=card.cpu_seconds or 0.0,
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
        self, task: Task, solution: str, seeds: tuple[int, ...], *, parallel: int
    ) -> list[Solved]:
        """Run a starter, a reference or the tuner with every seed, in their order."""
        agent, settings = _AGENTS[solution]
        with scratch_folder() as scratch:
            plan = Plan(
                tasks=(str(task.folder),),
                agent=agent,
                settings=settings,
                edition=task.edition,
                seeds=seeds,
                parallel=parallel,
                out=scratch,
            )
            experiment = run(plan, cache=self._cache, observer=self._observer)
            cards = last_attempts(experiment.scorecards)
            return [
                Solved(
                    card=card,
                    validation=_submitted_validation(experiment.trace(card.run_id)),
                    units=experiment.read_units(card.run_id),
                )
                for card in sorted(cards, key=lambda card: card.seed)
            ]


def _submitted_validation(trace: Trace) -> float | None:
    """Return the last measured validation score, which is that of the submission.

    Starter and reference are executed once, and the tuner executes its best trial last.
    """
    found = [step.validation.value for step in trace.steps if step.validation]
    return found[-1] if found else None


def measure_task(
    task: Task, bench: PipelineBench, *, runs: int, parallel: int
) -> Measured:
    """Measure the scores of starter, tuning baseline and reference over seeds.

    Units of their scores are written to the task's folder. The tuner chooses by
    measured validation scores; of a task that has none there is no tuning baseline.
    """
    seeds = {"starter": runs, "reference": runs}
    if task.validation is not None or task.grading is not None:
        seeds["tuned"] = TUNED_RUNS
    found: dict[str, Baseline] = {}
    units: dict[str, list[Units]] = {}
    for solution, count in seeds.items():
        solved = bench.solve_all(task, solution, tuple(range(count)), parallel=parallel)
        found[solution] = _baseline(task, solution, solved)
        units[solution] = [one.units for one in solved if one.units is not None]
    write_units(task.folder, task.edition, units)
    return Measured(**found, digest=task_digest(task.folder, task.edition))


def _baseline(task: Task, solution: str, solved: list[Solved]) -> Baseline:
    failed = next((card for card, _, _ in solved if card.score is None), None)
    if failed is not None:
        why = failed.submission_error or failed.reason
        raise TaskError(f"the {_AGENTS[solution][0]} of {task.id} has no score: {why}")
    scores = tuple(one.card.score for one in solved if one.card.score is not None)
    validation = tuple(one.validation for one in solved if one.validation is not None)
    # The starter takes exactly its own time; a measured ratio would only add noise.
    exact = solution == "starter" and task.grading is not None and task.grading.timed
    return Baseline(
        mean=1.0 if exact else math.fsum(scores) / len(scores),
        sd=statistics.stdev(scores) if len(scores) > 1 else 0.0,
        n=len(scores),
        date=utc_now()[:10],
        scores=scores,
        validation=validation if len(validation) == len(scores) else (),
    )
