"""What a run cost: steps, time, tokens and money, added up from its trace."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mlagentbench.core.scorecard import RunSeconds
from mlagentbench.core.trace import ModelCall, Trace
from mlagentbench.evaluation.pricing import Cost, Price, priced

KINDS = ("input", "output", "cached")
"""Kinds of tokens that are told of every run; cached ones are not among the input."""


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


def all_calls(trace: Trace) -> list[ModelCall]:
    """Return every reply that was paid for, those that led to no step included."""
    return [call for step in trace.steps for call in step.calls] + [*trace.calls]


def tokens(trace: Trace) -> dict[str, Any]:
    """Count tokens by kind, and the same by model role."""
    total: Counter[str] = Counter()
    roles: dict[str, Counter[str]] = {}
    for call in all_calls(trace):
        total.update(call.usage)
        roles.setdefault(call.role, Counter()).update(call.usage)
    counted = dict.fromkeys(KINDS, 0) | dict(total)
    return counted | {role: dict(count) for role, count in roles.items()}


def run_cost(trace: Trace, prices: Mapping[str, Price]) -> Cost:
    """Return the money spent by the end, with what is not known of it."""
    # What was spent changes only with steps, and these calls led to none.
    unstepped = sum(call.cost or 0.0 for call in trace.calls)
    return priced(_spent(trace) + unstepped, all_calls(trace), prices)


def _spent(trace: Trace) -> float:
    if trace.end:
        return trace.end.spent.cost
    return trace.steps[-1].spent.cost if trace.steps else 0.0
