"""How well the checks do on steps that were judged by hand."""

import importlib.util
import re
import sys
from functools import reduce
from pathlib import Path

import pytest

from mlagentbench.evaluation.process.examine import CHECKS

ROOT = Path(__file__).parents[3]
LEAST = {
    ("aside", "unsupported_claims"): (8 / 9, 8 / 9),
}
"""Precision and recall; what is not named here is without a mistake."""


@pytest.fixture(scope="module")
def tool():
    path = ROOT / "tools" / "process_quality.py"
    spec = importlib.util.spec_from_file_location("process_quality", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("part", ["tuned", "aside", "model"])
def test_every_check_is_as_good_as_it_was(tool, part):
    for name, quality in tool.quality(part).items():
        precision, recall = LEAST.get((part, name), (1.0, 1.0))
        assert quality.precision >= precision, name
        assert quality.recall >= recall, name


def test_every_check_has_steps_to_find_and_steps_to_leave_alone(tool):
    tuned, *others = (tool.quality(part) for part in tool.PARTS)
    for name in CHECKS:
        total = reduce(tool.Quality.plus, (one[name] for one in others), tuned[name])
        assert total.hits + total.misses >= 3, name
        assert total.clean >= 200, name


def test_the_set_is_large_enough_and_much_of_it_is_kept_aside(tool):
    counts = {
        part: sum(len(tool.trace_of(entry).steps) for entry in tool.labelled(part))
        for part in tool.PARTS
    }
    assert sum(counts.values()) >= 300
    assert counts["aside"] >= 0.29 * (counts["tuned"] + counts["aside"])
    assert counts["model"] >= 80


def test_labels_name_checks_and_steps_that_exist(tool):
    for entry in (one for part in tool.PARTS for one in tool.labelled(part)):
        steps = {step.step for step in tool.trace_of(entry).steps}
        assert set(entry.labels) <= set(CHECKS)
        assert all(set(at) <= steps for at in entry.labels.values())


def test_no_trace_tells_of_the_machine_it_comes_from(tool):
    for path in tool.LABELLED.glob("*.jsonl"):
        told = path.read_text(encoding="utf-8")
        homes = "|".join(f"/{top}/" for top in ("root", "work"))
        assert not re.search(rf"/tmp/(?!t\.csv|mlab)[a-z0-9]|{homes}", told), path


def test_the_table_names_every_check_with_its_numbers(tool):
    for part in tool.PARTS:
        table = tool.table(part)
        assert all(name in table for name in CHECKS)
    assert any(line.startswith("missed: ") for line in tool.mistakes("aside"))
