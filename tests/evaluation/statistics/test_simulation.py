"""The simulation behind docs/metrics.md."""

import importlib.util
import sys
from pathlib import Path

import pytest

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
