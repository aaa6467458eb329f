"""Run() and resume(): read this first.

from mlagentbench.run.pipeline import run
from mlagentbench.experiment.plan import Plan

experiment = run(Plan(tasks=("house-price",), agent="tuner"))
for card in experiment.scorecards:
    print(card.run, card.score, card.improvement)
"""

import os
from dataclasses import replace
from pathlib import Path

from mlagentbench.core.cache import default_cache
from mlagentbench.core.disk import sweep_scratch
from mlagentbench.core.progress import NullObserver, Progress, RunObserver, Silent
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Ending, Trace
from mlagentbench.evaluation.evaluate import EvaluationContext, Verdict, evaluate
from mlagentbench.experiment.experiment import Experiment, experiment_folder
from mlagentbench.experiment.plan import Plan
from mlagentbench.experiment.scorecard_file import last_attempt_of
from mlagentbench.run.episode import end_line, evaluation_context
from mlagentbench.run.inspect_task import Interrupted, Work, evaluate_jobs
from mlagentbench.run.job import Job
from mlagentbench.run.llm_judge.judge import ask_judge
from mlagentbench.run.make_jobs import Services, check_plan, jobs_of, start_experiment


def run(
    plan: Plan,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    audience: RunObserver | None = None,
) -> Experiment:
    """Carry out a plan; every run asked for ends up with a scorecard."""
    experiment = Experiment(experiment_folder(plan))
    workshop = _workshop(cache, progress, audience)
    checked = check_plan(plan, workshop)
    sweep_scratch()
    with experiment.lock():
        orders = start_experiment(checked, experiment, workshop)
        work = [(order, plan.seeds) for order in orders]
        if _carry_out(work, plan.parallel):
            _carry_out(_broken_once(work), plan.parallel)
            _hear(experiment, workshop)
    return experiment


def resume(
    experiment: Experiment,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    audience: RunObserver | None = None,
) -> list[RunId]:
    """Go on with every run that was cut off; return which they were.

    One whose trace is damaged ends `broken` with the reason; the others still go on.
    """
    sweep_scratch()
    with experiment.lock():
        unfinished = unfinished_runs(experiment)
        if not unfinished:
            return []
        workshop = _workshop(cache, progress, audience)
        work = work_left(jobs_of(experiment, workshop), unfinished)
        experiment.replace_scorecards(cards_that_stay(experiment, unfinished))
        if _carry_out(work, _parallel(experiment)):
            _hear(experiment, workshop)
    return [run for run in experiment.runs() if str(run) in unfinished]


def _hear(experiment: Experiment, workshop: Services) -> None:
    judge = experiment.spec.judge
    if judge is not None:
        ask_judge(experiment, judge, workshop.progress)


def _workshop(
    cache: Path | None, progress: Progress | None, audience: RunObserver | None
) -> Services:
    return Services(
        cache or default_cache(), progress or Silent(), audience or NullObserver()
    )


def _parallel(experiment: Experiment) -> int:
    return min(experiment.spec.parallel, len(os.sched_getaffinity(0)))


def _carry_out(work: Work, parallel: int) -> bool:
    """Run and judge what can be read; False where a person interrupted."""
    reasons: dict[str, str] = {}
    missing = Ending.BROKEN
    if whole := readable(work):
        try:
            reasons = evaluate_jobs(whole, whole[0][0].experiment.logs, parallel)
        except Interrupted:
            missing = Ending.INTERRUPTED
    for order, seeds in work:
        for run in map(order.run_id, seeds):
            add_missing_scorecard(order, run, missing, reasons.get(str(run)))
    return missing is Ending.BROKEN


def _broken_once(work: Work) -> Work:
    """Return what is to be repeated: our own failures get one more try."""
    again: Work = []
    for order, _ in work:
        cards = order.experiment.scorecards
        broken = [card for card in cards if _is_broken(card, order)]
        for card in broken:
            order.experiment.set_aside(order.run_id(card.seed), order.attempt)
        if broken:
            retry = replace(order, attempt=order.attempt + 1)
            again.append((retry, tuple(card.seed for card in broken)))
    return again


def _is_broken(card: Scorecard, order: Job) -> bool:
    return card.task == order.task.id and card.ending is Ending.BROKEN


def unfinished_runs(experiment: Experiment) -> set[str]:
    """Name every run that has no score yet and may still get one."""
    judged = {card.run for card in _cards(experiment) if card.ending.counts}
    return {str(run) for run in experiment.runs()} - judged


def cards_that_stay(experiment: Experiment, unfinished: set[str]) -> list[Scorecard]:
    """Return the cards of finished runs, and of earlier attempts of others."""
    attempts = _attempts(experiment)
    return [
        card
        for card in _cards(experiment)
        if card.run not in unfinished or card.attempt < attempts[card.run]
    ]


def work_left(orders: list[Job], unfinished: set[str]) -> Work:
    """Return each order with the seeds to go on with, attempt by attempt."""
    return [
        (replace(order, attempt=attempt), seeds)
        for order in orders
        for attempt, seeds in _by_attempt(order, unfinished)
    ]


def readable(work: Work) -> Work:
    """Return the part of the work whose traces are whole."""
    whole = [
        (order, tuple(seed for seed in seeds if _is_whole(order, seed)))
        for order, seeds in work
    ]
    return [(order, seeds) for order, seeds in whole if seeds]


def _is_whole(order: Job, seed: int) -> bool:
    return order.experiment.trace_damage(order.run_id(seed)) is None


def _by_attempt(order: Job, unfinished: set[str]) -> list[tuple[int, tuple[int, ...]]]:
    attempts = _attempts(order.experiment)
    groups: dict[int, list[int]] = {}
    for seed in order.experiment.spec.seeds:
        run = str(order.run_id(seed))
        if run in unfinished:
            groups.setdefault(attempts[run], []).append(seed)
    return [(attempt, tuple(seeds)) for attempt, seeds in groups.items()]


def _attempts(experiment: Experiment) -> dict[str, int]:
    """Return each run's attempt; the next has begun once the last was set aside."""
    last = last_attempt_of(_cards(experiment))
    return {
        str(run): max(last.get(str(run), 1), experiment.attempt(run))
        for run in experiment.runs()
    }


def _cards(experiment: Experiment) -> list[Scorecard]:
    return experiment.scorecards


def add_missing_scorecard(
    order: Job, run: RunId, ending: Ending, reason: str | None
) -> None:
    """Say how a run ended, unless it was judged."""
    if ending is Ending.BROKEN and reason is None:
        reason = f"it left no word; see {order.experiment.logs}"
    cards = order.experiment.scorecards
    if any(card.run == str(run) and card.attempt == order.attempt for card in cards):
        return
    under = evaluation_context(order.sandbox, order.attempt)
    damage = order.experiment.trace_damage(run)
    if damage is not None:
        order.experiment.add_scorecard(unreadable_card(order.task, run, damage, under))
        return
    trace = _trace(order, run)
    trace = trace.model_copy(update={"end": end_line(trace, ending, reason)})
    order.experiment.add_scorecard(evaluate(order.task, run, trace, Verdict(), under))


def unreadable_card(
    task: Task, run: RunId, damage: str, under: EvaluationContext
) -> Scorecard:
    """Say that a run's trace cannot be read any more, and why."""
    trace = Trace(run=str(run))
    end = end_line(trace, Ending.BROKEN, damage)
    return evaluate(task, run, trace.model_copy(update={"end": end}), Verdict(), under)


def _trace(order: Job, run: RunId) -> Trace:
    return order.experiment.trace(run)
