"""The sections of the page about single runs, as its template is given them."""

from mlagentbench.report.accounts import accounts
from mlagentbench.report.budgeting import PAGE
from mlagentbench.report.comparability import budget_text, cautions
from mlagentbench.report.rows import RunRow, UnjudgedRow, run_rows, unjudged_rows
from mlagentbench.report.view import ExperimentView


def run_sections(view: ExperimentView) -> dict[str, object]:
    """Write every run, where it went, and what its numbers can be compared with."""
    rows, unjudged = run_rows(view), unjudged_rows(view)
    return {
        "rows": rows,
        "unjudged": unjudged,
        "accounts": accounts(view, rows, unjudged),
        "cautions": cautions(view),
        "budgets": {
            name: " or ".join(dict.fromkeys(map(budget_text, budgets)))
            for name, budgets in view.budgets.items()
        },
        "left_out": _left_out(rows, unjudged),
    }


def _left_out(rows: list[RunRow], unjudged: list[UnjudgedRow]) -> str:
    """Say what the page has no room for; empty where all steps are shown."""
    folds = [*(row.fold for row in rows), *(row.fold for row in unjudged)]
    total = sum(fold.total_steps for fold in folds)
    shown = sum(len(fold.steps) for fold in folds)
    if shown == total:
        return ""
    return (
        f"So that the page stays under {(PAGE + 300_000) // 1_000_000} MB, {shown:,} of"
        f" {total:,} steps are shown: those that findings name, failures,"
        " measurements and the last."
    )
