"""Scorecards of made-up runs."""

import pytest
from tests.support import records

from mlagentbench.core.scorecard import Starter
from mlagentbench.core.success import SUCCESS_THRESHOLD
from mlagentbench.core.task import Direction


@pytest.fixture
def card():
    """Make the scorecard of a run that gained so much; None for no valid submission."""

    def make(task="toy", gain=0.0, *, seed=1, **more):
        fields = {
            "metric": "accuracy", "direction": Direction.HIGHER,
            "starter": Starter(mean=2.0, sd=0.0, n=8), "improvement": gain,
            "score": None if gain is None else 2.0 * (1 + gain),
            "success": gain is not None and gain > SUCCESS_THRESHOLD,
        }  # fmt: skip
        return records.card(task, seed, **(fields | more))

    return make
