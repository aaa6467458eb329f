"""An experiment from start to end: `run` and `resume`. Read this module first."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlagentbench.core import (
    Ending,
    NullObserver,
    Progress,
    RunId,
    RunObserver,
    Scorecard,
    Silent,
    Task,
    Trace,
    UsageError,
    default_cache,
    sweep_scratch,
)
from mlagentbench.evaluation import EvaluationContext, Verdict, evaluate_run
from mlagentbench.experiment import Experiment, Plan, experiment_folder, last_attempt_of
from mlagentbench.run.episode import end_line, evaluation_context
from mlagentbench.run.inspect_task import Interrupted, Work, evaluate_jobs
from mlagentbench.run.job import Job
from mlagentbench.run.llm_judge.judge import ask_judge
from mlagentbench.run.make_jobs import Services, jobs_of, make_jobs


def run(
    plan: Plan | None = None,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    observer: RunObserver | None = None,
    **fields: Any,  # noqa: ANN401  # the fields of Plan
) -> Experiment:
    """Carry out a plan, or the plan made of `fields`; every run gets a scorecard.

    `seeds` may be a number: 3 means the seeds 0, 1 and 2.
    """
    if plan is None:
        seeds = fields.pop("seeds", 1)
        plan = Plan(seeds=range(seeds) if isinstance(seeds, int) else seeds, **fields)
    elif fields:
        raise UsageError("pass a plan or its fields, not both")
    experiment = Experiment(experiment_folder(plan))
    services = _services(cache, progress, observer)
    jobs = make_jobs(plan, experiment, services)
    sweep_scratch()
    with experiment.lock():
        experiment.create(jobs[0].spec)
        work = [(job, plan.seeds) for job in jobs]
        if _carry_out(work, plan.parallel):
            _carry_out(_broken_once(work), plan.parallel)
            _ask_judge(experiment, services)
    return experiment


def resume(
    experiment: Experiment,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    observer: RunObserver | None = None,
) -> list[RunId]:
    """Resume every unfinished run; return which they were.

    A run whose trace is damaged ends `broken` with the reason; the others continue.
    """
    sweep_scratch()
    with experiment.lock():
        unfinished = unfinished_runs(experiment)
        if not unfinished:
            return []
        services = _services(cache, progress, observer)
        work = work_left(jobs_of(experiment, services), unfinished)
        experiment.replace_scorecards(cards_that_stay(experiment, unfinished))
        parallel = min(experiment.spec.parallel, len(os.sched_getaffinity(0)))
        if _carry_out(work, parallel):
            _ask_judge(experiment, services)
    return [run for run in experiment.runs() if str(run) in unfinished]


def _ask_judge(experiment: Experiment, services: Services) -> None:
    if (judge := experiment.spec.judge) is not None:
        ask_judge(experiment, judge, services.progress)


def _services(
    cache: Path | None, progress: Progress | None, observer: RunObserver | None
) -> Services:
    return Services(
        cache or default_cache(), progress or Silent(), observer or NullObserver()
    )


def _carry_out(work: Work, parallel: int) -> bool:
    """Run all readable work; return False if the user interrupted it."""
    reasons: dict[str, str] = {}
    missing = Ending.BROKEN
    if intact := readable(work):
        try:
            reasons = evaluate_jobs(intact, intact[0][0].experiment.logs, parallel)
        except Interrupted:
            missing = Ending.INTERRUPTED
    for job, seeds in work:
        for run in map(job.run_id, seeds):
            add_missing_scorecard(job, run, missing, reasons.get(str(run)))
    return missing is Ending.BROKEN


def _broken_once(work: Work) -> Work:
    """Return the broken runs: the harness's own failures get one more attempt."""
    again: Work = []
    for job, _ in work:
        cards = job.experiment.scorecards
        broken = [card for card in cards if _is_broken(card, job)]
        for card in broken:
            job.experiment.set_aside(job.run_id(card.seed), job.attempt)
        if broken:
            retry = replace(job, attempt=job.attempt + 1)
            again.append((retry, tuple(card.seed for card in broken)))
    return again


def _is_broken(card: Scorecard, job: Job) -> bool:
    return card.task == job.task.id and card.ending is Ending.BROKEN


def unfinished_runs(experiment: Experiment) -> set[str]:
    """Return every run that has no score yet and may still get one."""
    scored = {card.run for card in experiment.scorecards if card.ending.counts}
    return {str(run) for run in experiment.runs()} - scored


def cards_that_stay(experiment: Experiment, unfinished: set[str]) -> list[Scorecard]:
    """Return the scorecards of finished runs and of earlier attempts."""
    attempts = _attempts(experiment)
    return [
        card
        for card in experiment.scorecards
        if card.run not in unfinished or card.attempt < attempts[card.run]
    ]


def work_left(jobs: list[Job], unfinished: set[str]) -> Work:
    """Return each job with the seeds to resume, by attempt."""
    return [
        (replace(job, attempt=attempt), seeds)
        for job in jobs
        for attempt, seeds in _by_attempt(job, unfinished)
    ]


def readable(work: Work) -> Work:
    """Return the part of the work whose traces can be read."""
    intact = [
        (
            job,
            tuple(s for s in seeds if not job.experiment.trace_damage(job.run_id(s))),
        )
        for job, seeds in work
    ]
    return [(job, seeds) for job, seeds in intact if seeds]


def _by_attempt(job: Job, unfinished: set[str]) -> list[tuple[int, tuple[int, ...]]]:
    attempts = _attempts(job.experiment)
    groups: dict[int, list[int]] = {}
    for seed in job.experiment.spec.seeds:
        run = str(job.run_id(seed))
        if run in unfinished:
            groups.setdefault(attempts[run], []).append(seed)
    return [(attempt, tuple(seeds)) for attempt, seeds in groups.items()]


def _attempts(experiment: Experiment) -> dict[str, int]:
    """Return each run's attempt; a new one starts once the last was set aside."""
    last = last_attempt_of(experiment.scorecards)
    return {
        str(run): max(last.get(str(run), 1), experiment.attempt(run))
        for run in experiment.runs()
    }


def add_missing_scorecard(
    job: Job, run: RunId, ending: Ending, reason: str | None
) -> None:
    """Add the scorecard of a run that the engine did not score."""
    if ending is Ending.BROKEN and reason is None:
        reason = f"it recorded no ending; see {job.experiment.logs}"
    cards = job.experiment.scorecards
    if any(card.run == str(run) and card.attempt == job.attempt for card in cards):
        return
    context = evaluation_context(job.sandbox, job.attempt)
    damage = job.experiment.trace_damage(run)
    if damage is not None:
        job.experiment.add_scorecard(unreadable_card(job.task, run, damage, context))
        return
    trace = job.experiment.trace(run)
    trace = trace.model_copy(update={"end": end_line(trace, ending, reason)})
    job.experiment.add_scorecard(evaluate_run(job.task, run, trace, Verdict(), context))


def unreadable_card(
    task: Task, run: RunId, damage: str, context: EvaluationContext
) -> Scorecard:
    """Return the scorecard of a run whose trace cannot be read."""
    trace = Trace(run=str(run))
    end = end_line(trace, Ending.BROKEN, damage)
    return evaluate_run(
        task, run, trace.model_copy(update={"end": end}), Verdict(), context
    )
