"""docs/metrics.md explains what there is."""

import math
from pathlib import Path

import pytest

from mlagentbench.core.scorecard import FailureMode, Scorecard
from mlagentbench.evaluation.process.examine import CHECKS
from mlagentbench.evaluation.statistics.intervals import Error
from mlagentbench.evaluation.statistics.power import smallest
from mlagentbench.evaluation.statistics.significance import Contrast

PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
PLAIN = {
    *("run", "task", "version", "edition", "category", "agent", "model", "seed"),
    *("ending", "reason", "metric", "submission_error", "process", "resumed"),
    *("attempt", "sandbox", "harness", "created"),
}
"""Fields that are no measure."""


@pytest.mark.parametrize("name", [*CHECKS, *FailureMode])
def test_every_check_and_failure_mode_has_a_line(name):
    assert f"\n| `{name}` |" in PAGE


@pytest.mark.parametrize("name", sorted({*Scorecard.model_fields} - PLAIN))
def test_every_measure_of_a_scorecard_is_explained(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", [n for n in Contrast.model_fields if n.endswith("_p")])
def test_every_p_value_is_explained(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("runs", [1, 4, 8, 16, 32])
def test_what_a_study_can_show_is_as_computed(runs):
    sizes = [math.sqrt(0.5 / (runs * tasks)) for tasks in (1, 5, 13)]
    found = [smallest(Error(size=size, freedom=math.inf)) for size in sizes]
    points = ["none" if apart > 1 else f"{100 * apart:.0f}" for apart in found]
    assert f"\n| {runs} | {' | '.join(points)} |\n" in PAGE
