"""Every agent with a language model: in every protocol, and after any reply."""

import random

import pytest
from fake_models import hostile
from fake_models.case import Case
from fake_models.cases import CASES
from tests.support.quick_task import QUICK_TASK
from thinking import plan_for, trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run


def is_improved(experiment):
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.success
    assert card.tokens["input"] > 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_improves_a_task_with_the_replies_of_its_model(
    case, tmp_path, undisturbed
):
    is_improved(undisturbed(plan_for(case, tmp_path)))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_improves_house_price_with_the_replies_of_its_model(
    case, tmp_path, cache
):
    is_improved(run(plan_for(case, tmp_path, "house-price"), cache=cache))


def test_the_last_exchanges_stay_however_long_they_are(tmp_path, cache):
    settings = {"protocol": "tools", "context": "1"}
    case = Case("bash", "fake_models.cases:bash_tools", settings)
    experiment = run(plan_for(case, tmp_path), cache=cache)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    actions = [step.action for step in trace_of(experiment).steps]
    assert actions == ["Run Command", "Run Command", "Final Answer"]


REPLIES = 40


def generated(chance):
    """Draw what one reply is made of: pieces, calls, and how it stopped."""
    pieces = [chance.randrange(256) for _ in range(chance.randrange(7))]
    calls = [chance.randrange(256) for _ in range(chance.randrange(3))]
    return pieces, calls, chance.randrange(4)


@pytest.mark.parametrize("protocol", ["text", "tools", "schema"])
def test_a_run_survives_any_reply_and_records_it(protocol, tmp_path, cache):
    chance = random.Random(protocol)
    hostile.fill([generated(chance) for _ in range(REPLIES)], protocol)
    plan = Plan(
        tasks=(str(QUICK_TASK),),
        agent="research",
        settings={"protocol": protocol, "actions": "many", "log": "off"},
        model="scripted/fake_models.hostile:respond",
        budget=BudgetOverride(steps=3 * REPLIES),
        out=tmp_path,
    )
    experiment = run(plan, cache=cache)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    steps = trace_of(experiment).steps
    asked = [call for step in steps for call in step.calls]
    assert len(asked) > REPLIES * 3 / 2
    ours = ("Execute Script", "Restore Workspace", "Final Answer")
    assert all(step.calls for step in steps if step.action not in ours)
    assert not hostile.waiting
