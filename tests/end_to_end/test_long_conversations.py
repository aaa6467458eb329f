"""A conversation that grows long is summed up, and what was said last stays."""

from fake_models.case import Case
from thinking import plan_for, trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.run.pipeline import run


def test_the_last_exchanges_stay_however_long_they_are(tmp_path, cache):
    settings = {"protocol": "tools", "context": "1"}
    case = Case("bash", "fake_models.bash:tools", settings)
    experiment = run(plan_for(case, tmp_path), cache=cache)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED, card.reason
    actions = [step.action for step in trace_of(experiment).steps]
    assert actions == ["Run Command", "Run Command", "Final Answer"]
