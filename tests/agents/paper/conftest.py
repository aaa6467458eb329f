"""A run of one of the paper's agents, with the requests to its model."""

from dataclasses import dataclass

import pytest
from fake_models.paper import REPLIES
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.trace import Step
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run


@dataclass
class FinishedRun:
    """One finished run, and the requests to its model."""

    prompts: list
    """The messages of each request of the agent itself."""
    helper_prompts: list[str]
    """The prompts to the helper and the editor."""
    steps: tuple[Step, ...]
    card: object
    experiment: object

    @property
    def openings(self):
        return [messages[0].text for messages in self.prompts]

    @property
    def actions(self):
        return [step.action for step in self.steps]

    @property
    def spent(self):
        """Environment steps."""
        return self.steps[-1].spent.steps


@pytest.fixture
def run_agent(tmp_path, cache):
    """Run an agent on a quick task with a model that gives these replies."""

    def start(agent, *replies, budget=None, **settings):
        REPLIES.start(replies)
        plan = Plan(
            tasks=(str(QUICK_TASK),),
            agent=agent,
            model="scripted/fake_models.paper:respond",
            settings=settings,
            budget=BudgetOverride(steps=budget),
            out=tmp_path,
            name=f"run-{len(list(tmp_path.iterdir()))}",
        )
        experiment = run(plan, cache=cache)
        (run_id,) = experiment.runs()
        steps = experiment.trace(run_id).steps
        (card,) = experiment.scorecards
        return FinishedRun(
            REPLIES.prompts, REPLIES.helper_prompts, steps, card, experiment
        )

    return start
