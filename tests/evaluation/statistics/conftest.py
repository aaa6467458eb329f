"""Scorecards of made-up runs."""

import pytest

from mlagentbench.core.score import SUCCESS_THRESHOLD
from mlagentbench.core.scorecard import Harness, SandboxUsed, Scorecard, Starter
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending


@pytest.fixture
def card():
    """Make the scorecard of a run that gained so much; None for no valid submission."""

    def make(task="toy", gain=0.0, *, seed=1, agent="a", **more):
        fields = {
            "version": 1, "edition": "mini", "model": "none",
            "ending": Ending.SUBMITTED, "starter": Starter(mean=2.0, sd=0.0, n=8),
            "sandbox": SandboxUsed(provider="bwrap", limits="rlimits"),
        } | more  # fmt: skip
        return Scorecard(
            run=f"{task}:{agent}:{fields['model']}:{seed}", task=task, agent=agent,
            seed=seed, metric="accuracy", direction=Direction.HIGHER,
            score=None if gain is None else 2.0 * (1 + gain), improvement=gain,
            success=gain is not None and gain > SUCCESS_THRESHOLD,
            harness=Harness(version="0", inspect_ai="0"), created="now", **fields,
        )  # fmt: skip

    return make
