"""Plans and traces for tests of agents with a fake model."""

from pathlib import Path

from fake_models.case import Case
from fake_models.cases import CASES
from tests.support.quick_task import QUICK_TASK

from mlagentbench.experiment.plan import Plan

HERE = Path(__file__).parent
ONE_OF_EACH = list(
    {case.agent + case.settings.get("style", ""): case for case in CASES}.values()
)
"""One form of every agent."""


def plan_for(case: Case, out, task=QUICK_TASK, **more):
    given = {"model": f"scripted/{case.model}", "name": "exp"} | more
    return Plan(
        tasks=(str(task),), agent=case.agent, settings=case.settings, out=out, **given
    )


def trace_of(experiment):
    (run_id,) = experiment.runs()
    return experiment.trace(run_id)
