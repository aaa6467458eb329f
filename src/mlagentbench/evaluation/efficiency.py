"""What a run cost: steps, time, tokens and money, added up from its trace."""

from collections import Counter
from typing import Any

from mlagentbench.core.scorecard import RunSeconds
from mlagentbench.core.trace import Step, Trace


def run_seconds(trace: Trace) -> RunSeconds:
    """Add up where a run's time went."""
    steps = [step.seconds for step in trace.steps]
    model = sum(step.model for step in steps)
    execute = sum(step.execute for step in steps)
    harness = sum(step.harness for step in steps)
    total = trace.end.seconds if trace.end else model + execute + harness
    return RunSeconds(
        total=round(total, 3),
        model=round(model, 3),
        execute=round(execute, 3),
        harness=round(harness, 3),
    )


def tokens(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Count tokens: `input`, `output`, `cached`, and the same by model role."""
    total: Counter[str] = Counter()
    roles: dict[str, Counter[str]] = {}
    for call in (call for step in steps for call in step.calls):
        total.update(call.usage)
        roles.setdefault(call.role, Counter()).update(call.usage)
    counted = {kind: total[kind] for kind in ("input", "output", "cached")}
    return counted | {role: dict(count) for role, count in roles.items()}


def cost_usd(trace: Trace) -> float:
    """Return the money spent by the end."""
    if trace.end:
        return trace.end.spent.cost
    return trace.steps[-1].spent.cost if trace.steps else 0.0
