"""An experiment from start to end: `run` and `resume`. Read this module first."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mlagentbench.core import (
    Ending,
    NullObserver,
    Origin,
    Progress,
    RunId,
    RunObserver,
    Silent,
    Trace,
    UsageError,
    default_cache,
    require_linux,
    sweep_scratch,
    usable_cores,
)
from mlagentbench.experiment import (
    Experiment,
    Plan,
    TotalLimits,
    experiment_folder,
    last_attempt_of,
)
from mlagentbench.run.episode import job_context, unscored_card
from mlagentbench.run.inspect_task import Interrupted, Work, evaluate_jobs
from mlagentbench.run.job import Job
from mlagentbench.run.llm_judge.judge import ask_judge
from mlagentbench.run.make_jobs import Services, jobs_of, make_jobs
from mlagentbench.run.models.lookup import require_prices
from mlagentbench.run.total_budget import TotalBudget


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
    require_linux("a run")
    if plan is None:
        seeds = fields.pop("seeds", 1)
        plan = Plan(seeds=range(seeds) if isinstance(seeds, int) else seeds, **fields)
    elif fields:
        raise UsageError("pass a plan or its fields, not both")
    experiment = Experiment(experiment_folder(plan), plan.named)
    services = _services(cache, progress, observer)
    jobs = make_jobs(plan, experiment, services)
    sweep_scratch()
    with experiment.lock(new=True):
        experiment.create(jobs[0].spec)
        work = [(job, plan.seeds) for job in jobs]
        total = TotalBudget(plan.total, experiment)
        if _carry_out(work, plan.parallel, total):
            _carry_out(_broken_once(work), plan.parallel, total)
            _ask_judge(experiment, services)
    return experiment


def resume(
    experiment: Experiment,
    *,
    crashed: bool = False,
    cache: Path | None = None,
    progress: Progress | None = None,
    observer: RunObserver | None = None,
    total: TotalLimits | None = None,
) -> list[RunId]:
    """Resume every unfinished run; return which they were.

    With `crashed`, crashed runs are started again as new attempts: the agent's code
    may have been corrected, so the old steps cannot be replayed.

    A run whose trace is damaged ends `broken` with the reason; the others continue.
    The experiment's earlier total limits no longer hold; `total` sets new ones.

    Outside tasks, agents and model arguments must be `named` by the experiment's user.
    """
    if experiment.spec.origin is not Origin.RUN:
        raise UsageError(
            f"the runs of {experiment.folder} were made elsewhere and cannot be"
            f" resumed; `mlab score {experiment.folder}` grades them again"
        )
    require_linux("a run")
    limits = total or TotalLimits()
    if limits.cost_usd is not None:
        require_prices(experiment.spec, "--max-total-cost")
    sweep_scratch()
    with experiment.lock():
        # A run without a score may still get one.
        scored = {card.run for card in experiment.scorecards if card.ending.counts}
        if crashed:
            scored -= _set_crashed_aside(experiment)
        unfinished = {str(run) for run in experiment.runs()} - scored
        if not unfinished:
            return []
        services = _services(cache, progress, observer)
        attempts = _attempts(experiment)
        work = _work_left(jobs_of(experiment, services), unfinished, attempts)
        # The scorecards of finished runs and of broken attempts stay.
        experiment.replace_scorecards(
            card
            for card in experiment.scorecards
            if card.run not in unfinished
            or (card.attempt < attempts[card.run] and not card.ending.counts)
        )
        parallel = min(experiment.spec.parallel, usable_cores())
        if _carry_out(work, parallel, TotalBudget(limits, experiment)):
            _ask_judge(experiment, services)
    return [run for run in experiment.runs() if str(run) in unfinished]


def _set_crashed_aside(experiment: Experiment) -> set[str]:
    """Start a new attempt of each crashed run; return which they were."""
    cards = experiment.scorecards
    crashed = {card.run for card in cards if card.ending is Ending.CRASHED}
    for run in experiment.runs():
        if str(run) in crashed:
            experiment.set_aside(run, experiment.attempt(run))
    return crashed


def _ask_judge(experiment: Experiment, services: Services) -> None:
    if (judge := experiment.spec.judge) is not None:
        ask_judge(experiment, judge, services.progress)


def _services(
    cache: Path | None, progress: Progress | None, observer: RunObserver | None
) -> Services:
    return Services(
        cache or default_cache(), progress or Silent(), observer or NullObserver()
    )


def _carry_out(work: Work, parallel: int, total: TotalBudget) -> bool:
    """Run all readable work; return False if the user or a total limit stopped it."""
    reasons: dict[str, str] = {}
    missing = Ending.BROKEN
    readable = [
        (job, tuple(s for s in seeds if not job.experiment.trace_damage(job.run_id(s))))
        for job, seeds in work
    ]
    if intact := [(job, seeds) for job, seeds in readable if seeds]:
        logs = intact[0][0].experiment.logs
        try:
            reasons = evaluate_jobs(intact, logs, parallel, total)
        except Interrupted:
            missing = Ending.INTERRUPTED
    if total.reached is not None:
        missing = Ending.INTERRUPTED
    for job, seeds in work:
        for run in map(job.run_id, seeds):
            failure = reasons.get(str(run))
            ending = missing if failure is None else Ending.BROKEN
            add_missing_scorecard(job, run, ending, failure or total.reached)
    return missing is Ending.BROKEN


def _broken_once(work: Work) -> Work:
    """Return the broken runs: the harness's own failures get one more attempt."""
    again: Work = []
    for job, _ in work:
        cards = job.experiment.scorecards
        broken = [
            card
            for card in cards
            if card.task == job.task.id and card.ending is Ending.BROKEN
        ]
        for card in broken:
            job.experiment.set_aside(job.run_id(card.seed), job.attempt)
        if broken:
            retry = replace(job, attempt=job.attempt + 1)
            again.append((retry, tuple(card.seed for card in broken)))
    return again


def _work_left(jobs: list[Job], unfinished: set[str], attempts: dict[str, int]) -> Work:
    """Return each job with the seeds to resume, by attempt."""
    work: Work = []
    for job in jobs:
        groups: dict[int, tuple[int, ...]] = {}
        for seed in job.spec.seeds:
            run = str(job.run_id(seed))
            if run in unfinished:
                groups[attempts[run]] = (*groups.get(attempts[run], ()), seed)
        work += [(replace(job, attempt=one), seeds) for one, seeds in groups.items()]
    return work


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
    context = job_context(job)
    damage = job.experiment.trace_damage(run)
    if damage is not None:
        ending, reason, trace = Ending.BROKEN, damage, Trace(run=str(run))
    else:
        trace = job.experiment.trace(run)
    card = unscored_card(job.task, run, trace, ending, reason, context)
    job.experiment.add_scorecard(card)
