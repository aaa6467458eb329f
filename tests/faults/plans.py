"""The runs that are disturbed: short, and each step needs the ones before."""

from pathlib import Path

from tests.support.quick_task import QUICK_TASK

from mlagentbench.experiment.plan import BudgetOverride, Plan

_AGENTS = {
    "quick": {"agent": "tests.faults.agents:quick"},
    "slow": {"agent": "tests.faults.agents:slow"},
    "tuner": {"agent": "tuner", "budget": BudgetOverride(steps=8)},
    "thinker": {"agent": "thinker:thinker", "model": "scripted/thinker:script"},
}


def plan_for(kind: str, out: Path, name: str, **more: object) -> Plan:
    """Return the plan of one short run."""
    return Plan(tasks=(str(QUICK_TASK),), out=out, name=name, **_AGENTS[kind], **more)
