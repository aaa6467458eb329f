"""The estimate of time and cost, and the question before long or costly work."""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.console import err
from mlagentbench.core import usable_cores

if TYPE_CHECKING:
    from mlagentbench.study import Cell, Estimate, PlannedStudy, StudyOptions

ASK_ABOVE_HOURS = 2.0
ASK_ABOVE_DOLLARS = 10.0


def confirm(sentence: str, hours: float, dollars: float, *, yes: bool) -> bool:
    """Print what is about to start; ask the user if it is long or costly."""
    err().print(sentence)
    is_little = hours <= ASK_ABOVE_HOURS and dollars <= ASK_ABOVE_DOLLARS
    if yes or is_little or not sys.stdin.isatty():
        return True
    return click.confirm("Continue?", default=True, err=True)


MAX_COST = "--max-cost DOLLARS per run"


def costs_in_words(dollars: float, limit: str = MAX_COST) -> str:
    """Return the highest cost; `limit` is where the user can set a limit."""
    if dollars == 0.0:
        return "no model costs"
    if math.isinf(dollars):
        return f"model costs are not capped; set {limit}"
    return f"at most ${dollars:,.2f} for models"


def confirm_study(
    planned: "PlannedStudy",
    cells: "Sequence[Cell]",
    options: "StudyOptions",
    *,
    yes: bool,
) -> bool:
    """Print what cells of a study need at most; ask the user if it is much."""
    most = estimate_study(planned, cells, options)
    sentence = study_in_words(planned, most, options)
    return confirm(sentence, most.hours, most.cost_usd, yes=yes)


def estimate_study(
    planned: "PlannedStudy", cells: "Sequence[Cell]", options: "StudyOptions"
) -> "Estimate":
    """Return the time, cost and disk that cells of a study need at most."""
    from mlagentbench.study import estimate

    total = options.total.cost_usd or math.inf
    return estimate(cells, planned.keep, _parallel(options), total)


def _parallel(options: "StudyOptions") -> int:
    """Return the number of cells at a time; that of a cluster is not known."""
    return options.parallel or (usable_cores() if options.on == "local" else 1)


def study_in_words(
    planned: "PlannedStudy", most: "Estimate", options: "StudyOptions"
) -> str:
    """Return the number of cells, and the most hours and cost of those to run."""
    number, done = len(planned.cells), len(planned.cells) - most.cells
    cells = f"{planned.name}: {number:,} cell{'' if number == 1 else 's'}"
    if not most.cells:
        return f"{cells}, nothing to run"
    if done:
        cells += f", {done:,} with a result"
    parallel = f"{_parallel(options)} in parallel"
    if options.parallel is None and options.on != "local":
        parallel = "one after another"
    limit = "cost_usd in limits" if planned.text else MAX_COST
    costs = costs_in_words(most.cost_usd, limit)
    return f"{cells}; {parallel}: at most {most.hours:,.1f} h, {costs}"
