"""Every agent with a language model, in every protocol that it knows."""

import pytest
from fake_models.cases import CASES
from thinking import plan_for

from mlagentbench.core.trace import Ending
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
