"""The units of a task's baselines, in one file beside measured.json."""

import numpy as np

from mlagentbench.core.units import Units
from mlagentbench.tasks import load
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import UNITS_FILE, read_units, write_units


def units(rows=3, seed=0):
    values = np.random.default_rng(seed).normal(size=rows).astype(np.float32)
    return Units(values=tuple((float(value),) for value in values))


def test_units_are_kept_by_edition_solution_and_seed(tmp_path):
    runs = {"starter": [units(seed=n) for n in range(12)], "tuned": [units(seed=99)]}
    write_units(tmp_path, "mini", runs)
    write_units(tmp_path, "full", {"starter": [units(seed=50)]})
    found = read_units(tmp_path, "mini")
    assert found == {name: tuple(tables) for name, tables in runs.items()}
    assert read_units(tmp_path, "full") == {"starter": (units(seed=50),)}
    assert read_units(tmp_path, "other") == {}


def test_a_grader_without_units_leaves_no_old_ones(tmp_path):
    write_units(tmp_path, "mini", {"starter": [units()]})
    write_units(tmp_path, "full", {"starter": [units()]})
    write_units(tmp_path, "mini", {"starter": [], "reference": []})
    assert read_units(tmp_path, "mini") == {}
    assert read_units(tmp_path, "full") != {}
    write_units(tmp_path, "full", {})
    assert not (tmp_path / UNITS_FILE).exists()


def test_later_seeds_are_left_out_of_a_file_that_would_be_too_large(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(load, "MOST_BYTES", 10_000)
    large = {"starter": [units(600, seed) for seed in range(8)]}
    write_units(tmp_path, "mini", large)
    assert (tmp_path / UNITS_FILE).stat().st_size <= 10_000
    assert read_units(tmp_path, "mini")["starter"] == tuple(large["starter"][:4])
    write_units(tmp_path, "mini", {"starter": [units(4_000)]})
    assert read_units(tmp_path, "mini") == {}


def test_units_do_not_change_the_digest_of_a_task(tmp_path):
    (tmp_path / "task.toml").write_text("")
    before = task_digest(tmp_path, "mini")
    write_units(tmp_path, "mini", {"starter": [units()]})
    assert task_digest(tmp_path, "mini") == before
