"""The table of checks, and examine()."""

from collections.abc import Callable, Iterable, Mapping

from mlagentbench.core import Finding, ProcessCheck, Task, Trace
from mlagentbench.evaluation.process.claims import unsupported_claims
from mlagentbench.evaluation.process.conduct import (
    edits_never_executed,
    repeated_actions,
    response_format,
    same_exception,
    wasted_budget,
)
from mlagentbench.evaluation.process.forbidden import forbidden
from mlagentbench.evaluation.process.result import (
    baseline_never_measured,
    plan_drift,
    submission,
    worse_than_best,
)
from mlagentbench.evaluation.process.run_view import RunView

Check = Callable[[RunView], Iterable[Finding]]

CHECKS: dict[str, Check] = {
    "response_format": response_format,
    "repeated_actions": repeated_actions,
    "same_exception": same_exception,
    "edits_never_executed": edits_never_executed,
    "baseline_never_measured": baseline_never_measured,
    "unsupported_claims": unsupported_claims,
    "plan_drift": plan_drift,
    "worse_than_best": worse_than_best,
    "submission": submission,
    "wasted_budget": wasted_budget,
    "forbidden": forbidden,
}

EVIDENCE_SHOWN = 10


def examine(
    task: Task,
    trace: Trace,
    score: float | None = None,
    submission_error: str | None = None,
    code: Mapping[str, str | None] | None = None,
) -> dict[str, ProcessCheck]:
    """Return the findings of each check: their number and the first of them."""
    view = RunView(task, trace, score, submission_error, code or {})
    found = {name: tuple(check(view)) for name, check in CHECKS.items()}
    return {
        name: ProcessCheck(value=len(findings), evidence=findings[:EVIDENCE_SHOWN])
        for name, findings in found.items()
    }
