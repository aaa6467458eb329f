"""docs/metrics.md: what it explains, and the simulation behind it."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest

from mlagentbench.core.scorecard import FailureMode, Scorecard
from mlagentbench.evaluation.process.examine import CHECKS
from mlagentbench.evaluation.statistics.intervals import Error
from mlagentbench.evaluation.statistics.power import smallest
from mlagentbench.evaluation.statistics.significance import Contrast

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("simulate", TOOLS / "simulate.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


def test_the_page_shows_what_the_simulation_found(tool):
    page = tool.PAGE.read_text()
    assert tool.tables(tool.kept()) in page
    assert tool.with_tables(page, tool.kept()) == page


def test_what_was_found_is_as_it_must_be(tool):
    rows = tool.kept()
    assert all(row["studies"] >= 2000 for row in rows)
    for what, group in tool.grouped(rows).items():
        assert tool.holds(group), what


def test_what_was_kept_is_the_whole_grid(tool):
    points = {(p.truth, p.tasks, p.runs) for p in tool.points()}
    rows = tool.kept()
    assert {(row["truth"], row["tasks"], row["runs"]) for row in rows} == points


def test_fewer_studies_find_the_same_within_their_noise(tool):
    kept = {(r["what"], r["truth"], r["tasks"], r["runs"]): r for r in tool.kept()}
    for point in [p for p in tool.points() if p.runs == 8][::3]:
        for row in tool.rows_of(point, 60):
            known = kept[row["what"], row["truth"], row["tasks"], row["runs"]]
            error = (max(known["value"] * (1 - known["value"]), 0.01) / 60) ** 0.5
            assert row["value"] == pytest.approx(known["value"], abs=4.5 * error)


def test_too_narrow_intervals_and_false_alarms_are_noticed(tool):
    row = {"what": "x", "studies": 2000}
    assert not tool.holds([{**row, "kind": "coverage", "value": 0.91}])
    assert not tool.holds([{**row, "kind": "coverage", "value": 0.99}])
    assert not tool.holds([{**row, "kind": "false alarms", "value": 0.07}])
    assert not tool.holds([{**row, "kind": "exact", "value": 0.9, "exact": 0.95}])
    assert tool.holds([{**row, "kind": "exact", "value": 0.95, "exact": 0.95}])


PAGE = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
PLAIN = {
    *("run", "task", "version", "edition", "category", "agent", "model", "seed"),
    *("ending", "reason", "metric", "submission_error", "process", "resumed"),
    *("attempt", "sandbox", "harness", "created", "label", "origin"),
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
