"""A run of one of the paper's agents, seen from both sides."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from voices.classic_stage import STAGE

from mlagentbench.core.trace import Step
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run

QUICK_TASK = Path(__file__).parents[2] / "faults" / "quick"


@dataclass
class Played:
    """One run, from both sides."""

    asked: list
    """What the model was asked as the agent: messages of each request."""
    helped: list[str]
    """What it was asked as helper or editor."""
    steps: tuple[Step, ...]
    card: object
    experiment: object

    @property
    def openings(self):
        return [messages[0].text for messages in self.asked]

    @property
    def actions(self):
        return [step.action for step in self.steps]

    @property
    def spent(self):
        """Environment steps."""
        return self.steps[-1].spent.steps


@pytest.fixture
def play(tmp_path, cache):
    """Let an agent work on a quick task while the model says the given lines."""

    def go(agent, *lines, budget=None, **settings):
        STAGE.begin(lines)
        plan = Plan(
            tasks=(str(QUICK_TASK),),
            agent=agent,
            model="scripted/voices.classic_stage:speak",
            settings=settings,
            budget=BudgetOverride(steps=budget),
            out=tmp_path,
            name=f"run-{len(list(tmp_path.iterdir()))}",
        )
        experiment = run(plan, cache=cache)
        (run_id,) = experiment.runs()
        steps = experiment.trace(run_id).steps
        (card,) = experiment.scorecards
        return Played(STAGE.asked, STAGE.helped, steps, card, experiment)

    return go
