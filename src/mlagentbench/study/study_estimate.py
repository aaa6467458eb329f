"""The time, cost and disk that the cells of a study can need at most."""

import math
from collections.abc import Iterable

from mlagentbench.core import Budget, Record
from mlagentbench.environment import SnapshotLimits
from mlagentbench.evaluation import is_free
from mlagentbench.experiment import NO_MODEL, Plan
from mlagentbench.study.cell import Cell
from mlagentbench.study.executor import Keep
from mlagentbench.tasks import load_task


class Estimate(Record):
    """Upper bounds of what the cells of a study need."""

    cells: int
    hours: float
    """Wall time of all cells at the given parallelism."""
    cost_usd: float
    """Of all models; infinite if a model that costs money has no limit."""
    disk_gb: float
    """Of all bundles."""


def estimate(
    cells: Iterable[Cell], keep: Keep, parallel: int, total_usd: float = math.inf
) -> Estimate:
    """Return the most that cells can take; each task is loaded once.

    Once the cells have cost `total_usd`, no more of them start.
    """
    tasks: dict[tuple[str, str], Budget] = {}
    number, minutes, longest, cost, dearest, disk = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for cell in cells:
        place = (cell.task, cell.edition)
        if place not in tasks:
            tasks[place] = load_task(cell.task, edition=cell.edition).budget
        budget = cell.budget.applied(tasks[place])
        number += 1
        minutes += budget.minutes
        longest = max(longest, budget.minutes)
        cost += max_cost_of_run(cell)
        dearest = max(dearest, max_cost_of_run(cell))
        disk += _bundle_mb(budget, keep)
    return Estimate(
        cells=number,
        hours=max(minutes / parallel, longest) / 60,
        # Cells that run when the total is reached finish.
        cost_usd=min(cost, total_usd + dearest * parallel),
        disk_gb=disk / 1024,
    )


def max_cost_of_run(options: Plan | Cell) -> float:
    """Return the highest cost of one run's models; infinite without a limit."""
    # What a judge costs is not part of a run, and so not limited by its budget.
    if options.judge is not None and _is_paid(options.judge.model):
        return math.inf
    if not any(map(_is_paid, [options.model, *options.roles.values()])):
        return 0.0
    limit = options.budget.cost_usd
    return math.inf if limit is None else limit


def _is_paid(model: str) -> bool:
    return model != NO_MODEL and not is_free(model)


def _bundle_mb(budget: Budget, keep: Keep) -> float:
    """Return the limits on a submission and on snapshots; `best` keeps two of them."""
    kept = {"submission": 0, "best": 2, "all": budget.steps}[keep]
    return budget.submission_mb + kept * SnapshotLimits().mb
