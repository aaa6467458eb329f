"""Every agent that thinks with a model, in every language it speaks."""

import pytest
from fake_models.cases import CASES
from thinking import plan_for

from mlagentbench.core.trace import Ending
from mlagentbench.run.pipeline import run


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_agent_improves_house_price_with_what_its_model_says(case, tmp_path, cache):
    (card,) = run(plan_for(case, tmp_path), cache=cache).scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    assert card.success
    assert card.tokens["input"] > 0
