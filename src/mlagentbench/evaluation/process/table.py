"""Every check by its name; a new one is a line here and a file beside the others."""

from collections.abc import Callable, Iterable

from mlagentbench.core.finding import Finding
from mlagentbench.evaluation.process.checks.baseline import baseline_never_measured
from mlagentbench.evaluation.process.checks.claims import unsupported_claims
from mlagentbench.evaluation.process.checks.drift import plan_drift
from mlagentbench.evaluation.process.checks.exceptions import same_exception
from mlagentbench.evaluation.process.checks.forbidden import forbidden
from mlagentbench.evaluation.process.checks.repeats import repeated_actions
from mlagentbench.evaluation.process.checks.replies import response_format
from mlagentbench.evaluation.process.checks.submission import submission
from mlagentbench.evaluation.process.checks.unexecuted import edits_never_executed
from mlagentbench.evaluation.process.checks.waste import wasted_budget
from mlagentbench.evaluation.process.checks.worse import worse_than_best
from mlagentbench.evaluation.process.story import Story

Check = Callable[[Story], Iterable[Finding]]

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
