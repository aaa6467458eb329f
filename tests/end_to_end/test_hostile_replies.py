"""After any reply of a model the run goes on, and every reply is a recorded step."""

import random

import pytest
from fake_models import hostile
from tests.support.quick_task import QUICK_TASK
from thinking import trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run


def generated(chance):
    """Draw what one reply is made of: pieces, calls, and how it stopped."""
    pieces = [chance.randrange(256) for _ in range(chance.randrange(7))]
    calls = [chance.randrange(256) for _ in range(chance.randrange(3))]
    return pieces, calls, chance.randrange(4)


@pytest.mark.parametrize("protocol", ["text", "tools", "schema"])
@pytest.mark.parametrize("replies", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_a_run_survives_any_reply_and_records_it(protocol, replies, tmp_path, cache):
    chance = random.Random(protocol)
    hostile.fill([generated(chance) for _ in range(replies)], protocol)
    plan = Plan(
        tasks=(str(QUICK_TASK),),
        agent="research",
        settings={"protocol": protocol, "actions": "many", "log": "off"},
        model="scripted/fake_models.hostile:respond",
        budget=BudgetOverride(steps=3 * replies),
        out=tmp_path,
    )
    experiment = run(plan, cache=cache)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    steps = trace_of(experiment).steps
    asked = [call for step in steps for call in step.calls]
    assert len(asked) > replies * 3 / 2
    ours = ("Execute Script", "Restore Workspace", "Final Answer")
    assert all(step.calls for step in steps if step.action not in ours)
    assert not hostile.waiting
