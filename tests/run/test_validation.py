"""The text about a measured validation score that an agent reads."""

import pytest
from tests.support.records import toy_task

from mlagentbench.core.task import Validation
from mlagentbench.core.trace import Measurement
from mlagentbench.run.validation import Measured, measurement_note

SCORE = Measurement(metric="mae", value=21043.25)
WITH_INTERVAL = SCORE.model_copy(update={"low": 19843.1, "high": 22301.57})


@pytest.mark.parametrize(
    ("hidden", "found", "note"),
    [
        (False, Measured(value=SCORE), "validation mae=21043.2 (measured)"),
        (False, Measured(value=WITH_INTERVAL), "validation mae=21043.2 (measured)"),
        (True, Measured(value=SCORE), "validation mae=21043.2, query 3 (measured)"),
        (
            True,
            Measured(value=WITH_INTERVAL),
            "validation mae=21043.2, 95 % interval 19843.1 to 22301.6, query 3"
            " (measured)",
        ),
        (True, Measured(problem="why"), "validation could not be measured: why"),
        (True, Measured(), None),
    ],
)
def test_the_note_gives_score_interval_and_query(hidden, found, note):
    task = toy_task(validation=Validation(hidden=hidden))
    assert measurement_note(task, found, 3) == note
