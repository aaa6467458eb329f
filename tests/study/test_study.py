"""A study as `mlab status`, `report`, `compare` and `show` read it."""

import csv
import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from benchmarks.study_size import copy_bundle
from tests.conftest import RECORDED
from tests.support.quick_task import QUICK_TASK
from tests.support.studies import quick_cell

from mlagentbench.core import RecordError, Units, UsageError, take_lease
from mlagentbench.experiment.plan import BudgetOverride, TotalLimits
from mlagentbench.study.store import open_store
from mlagentbench.study.study import Study, open_study
from mlagentbench.study.study_status import CellState, status_tables, study_line

CELLS = [quick_cell(seed, "tuner") for seed in range(5)]
DONE, FAILED, RUNNING, BEGUN = CELLS[:2], *CELLS[2:]


@pytest.fixture
def bundle(tmp_path):
    """A recorded run as a bundle: without the path of its task folder."""
    folder = shutil.copytree(RECORDED / "tuner", tmp_path / "bundle")
    spec = folder / "experiment.json"
    spec.write_text(spec.read_text().replace("@TASK@", "./task"))
    (folder / "cell.json").write_text(
        json.dumps({"cell": DONE[0].model_dump(mode="json"), "harness": "0"})
    )
    return folder


@pytest.fixture
def publish(bundle, tmp_path):
    def publish(study, *cells):
        for cell in cells:
            folder = tmp_path / "copies" / cell.id
            copy_bundle(bundle, folder, cell.seed)
            study.store.publish(cell.id, folder)

    return publish


@pytest.fixture
def study(tmp_path, publish):
    return make_study(str(tmp_path / "small"), publish)


def make_study(address, publish):
    """Two published cells, one that failed, one that runs, one that was interrupted."""
    study = Study(open_store(address))
    study.add_plan("small", "name = 'small'", CELLS, TotalLimits(cost_usd=20))
    publish(study, *DONE)
    write(study, FAILED, "failed.json", reason="no disk", ending="broken",
          attempts=2, at="2026-11-18T00:00:00+00:00", cost_usd=0.5)  # fmt: skip
    write(study, RUNNING, "place.json", place="node 7", steps=3, cost_usd=0.25)
    assert take_lease(study.store, f"work/{RUNNING.id}/")
    write(study, BEGUN, "place.json", place="node 8", steps=4)
    for cell in (RUNNING, BEGUN):
        write(study, cell, "progress/experiment.json")
    return study


def write(study, cell, name, **document):
    study.store.replace(f"work/{cell.id}/{name}", json.dumps(document).encode())


def test_status_tells_the_state_of_every_cell_from_the_store(study):
    status = study.status()
    assert [cell.words for cell in status.cells] == [
        *("published", "published", "failed: broken: no disk"),
        *("running on node 7, step 3", "waiting, resumes after step 4"),
    ]
    assert status.counts == {
        CellState.PUBLISHED: 2, CellState.RUNNING: 1,
        CellState.WAITING: 1, CellState.FAILED: 1,
    }  # fmt: skip
    assert (status.cost_usd, status.max_cost_usd) == (0.75, 20)
    assert not status.is_over


def test_expected_end_follows_from_published_cells_and_cells_at_a_time(study):
    status = study.status()
    seconds = status.cells[0].seconds
    end = datetime.fromisoformat(status.expected_end)
    # One cell waits, and the one that runs is taken as half done.
    expected = datetime.now(UTC) + timedelta(seconds=1.5 * seconds)
    assert abs(end - expected) < timedelta(seconds=60)
    assert "$0.75 of $20.00 for models" in study_line(status, datetime.now(UTC))
    study.store.delete(f"work/{RUNNING.id}/")
    status = study.status()
    assert status.expected_end is None
    assert "no cell runs; continue with" in study_line(status, datetime.now(UTC))


def test_status_says_which_cells_start_again_if_a_node_is_lost(study):
    assert "start again" not in study_line(study.status(), datetime.now(UTC))
    for cell in (RUNNING, BEGUN):
        study.store.delete(f"work/{cell.id}/progress/experiment.json")
    status = study.status()
    assert status.cells[-1].words == "waiting, starts again"
    assert "the steps of 1 running are on their nodes only" in study_line(
        status, datetime.now(UTC)
    )


def test_tables_name_running_and_failed_cells(study):
    groups, running, failed = status_tables(study.status())
    (row,) = groups.rows
    assert row[:7] == ["quick@1/mini", "tuner", "2", "1", "1", "1", "2 of 2"]
    assert running.rows == [[RUNNING.id, "node 7", "3", "$0.25", ""]]
    assert failed.rows == [[FAILED.id, "2", "broken: no disk"]]


def test_an_edited_file_adds_cells_and_keeps_the_results_of_others(study):
    more = quick_cell(9, "tuner")
    study.add_plan("small", "edited", [DONE[0], more])
    assert study.cells == [DONE[0], more]
    assert study.missing == [more]
    assert study.status().earlier == 1
    assert [card.seed for card in study.scorecards] == [0, 1]
    assert [one.folder.name for one in study.experiments] == [one.id for one in DONE]
    study.add_plan("small", "name = 'small'", CELLS)
    assert study.cells == CELLS


def test_units_of_all_results_are_found_by_run(study):
    units = Units(values=((0.5,), (1.5,)))
    assert study.units == {}
    for experiment in study.experiments:
        experiment.write_units(experiment.scorecards[0].run, units)
    assert study.units == {card.run: units for card in study.scorecards}
    assert len(study.units) == 2


def test_cancelling_lasts_until_the_next_driver(study):
    study.cancel()
    assert study.status().cancelled
    study.add_plan("small", "", CELLS)
    assert not study.status().cancelled


def test_damaged_and_missing_studies_are_one_sentence(study, tmp_path):
    with pytest.raises(UsageError, match=r"not a study: no study\.json"):
        open_study(tmp_path)
    study.store.replace("plans/x.json", b"{")
    with pytest.raises(RecordError, match=r"plans/x\.json is damaged"):
        study.status()


def test_runs_of_one_id_with_other_limits_are_all_kept_and_noted(study, publish):
    short = quick_cell(0, "tuner", budget=BudgetOverride(steps=5))
    study.add_plan("small", "", [*DONE, short])
    publish(study, short)
    assert [card.seed for card in study.scorecards] == [0, 1, 0]
    assert "1 runs have the id of another run" in " ".join(study.warnings)


def test_mlab_status_of_a_study(study, mlab):
    said = mlab("status", study.address)
    assert said.code == 0, said.err
    assert "5 cells; 2 published, 1 running, 1 waiting, 1 failed; $0.75 of" in said.out
    assert f"{RUNNING.id}\tnode 7\t3" in said.out
    document = json.loads(mlab("status", study.address, "--json").out)
    assert document["counts"]["waiting"] == 1
    assert len(document["cells"]) == 5


def test_mlab_report_lists_missing_cells(study, mlab, tmp_path):
    table, tex = tmp_path / "runs.csv", tmp_path / "table.tex"
    said = mlab("report", study.address, "--csv", table, "--latex", tex)
    assert "if you trust it, add --task-path ./task" in said.err
    named = ("--task-path", QUICK_TASK)
    said = mlab("report", study.address, "--csv", table, "--latex", tex, *named)
    assert said.code == 0, said.err
    assert "3 of 5 runs have no result yet: quick:tuner:none:2 (failed: " in said.err
    assert "not an experiment" not in said.err
    assert "--task-path" not in said.err
    page = (tmp_path / "small" / "report.html").read_text()
    assert "running on node 7, step 3" in page
    assert "5 runs were planned" in page
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["experiment"] for row in rows] == [cell.id for cell in DONE]
    assert "tuner & " in tex.read_text()


def test_mlab_compare_takes_a_study_and_lists_missing_cells(study, mlab, recorded):
    said = mlab("compare", f"{study.address}:tuner", recorded("starter"))
    assert said.code == 0, said.err
    assert "A: tuner\nB: starter" in said.out
    assert "small: 3 of 5 runs have no result yet: " in said.err
    said = mlab("compare", f"{study.address}:nobody", f"{study.address}:tuner")
    assert said.code == 2
    assert "no agent or model 'nobody'; choose from: tuner" in said.err


def test_mlab_show_lists_cells_and_shows_the_steps_of_one(study, mlab):
    listed = mlab("show", study.address)
    assert listed.code == 0, listed.err
    assert f"{DONE[0].id}\tquick:tuner:none:0\tsubmitted" in listed.out
    one = mlab("show", study.address, DONE[1].id)
    assert one.out.splitlines()[0] == "quick:tuner:none:1"
    assert "Execute Script" in one.out
    missing = mlab("show", study.address, str(RUNNING.run))
    assert missing.code == 2
    assert f"no result of {RUNNING.id} is published" in missing.err
    assert "has no cell, run" in mlab("show", study.address, "nobody").err


@pytest.mark.parametrize("command", ["score", "prune", "resume"])
def test_commands_for_experiments_say_where_those_of_a_study_are(study, mlab, command):
    said = mlab(command, study.address)
    assert said.code == 2
    assert f"{study.address} is a study: `mlab study {study.address}`" in said.err
    assert f"{study.address}/cells holds an experiment for each result" in said.err


@pytest.mark.slow
def test_a_study_in_an_object_store_is_read_and_each_bundle_copied_once(
    s3, publish, mlab, recorded, tmp_path, monkeypatch
):
    monkeypatch.setenv("MLAB_SCRATCH", str(tmp_path / "scratch"))
    study = make_study(s3, publish)
    assert study.status().counts[CellState.PUBLISHED] == 2
    said = mlab("status", s3)
    assert "5 cells; 2 published, 1 running, 1 waiting, 1 failed" in said.out, said.err
    # The state of cells is not in their bundles.
    assert not (tmp_path / "scratch").exists()
    said = mlab("compare", f"{s3}:tuner", recorded("starter"))
    assert "A: tuner\nB: starter" in said.out, said.err
    copied = sorted((tmp_path / "scratch").rglob("experiment.json"))
    assert len(copied) == 2
    before = [path.stat().st_mtime_ns for path in copied]
    said = mlab("report", s3)
    assert said.out == "report: report.html\n", said.err
    assert "3 of 5 runs have no result yet" in (tmp_path / "report.html").read_text()
    said = mlab("show", s3, DONE[1].id)
    assert said.out.splitlines()[0] == "quick:tuner:none:1", said.err
    assert mlab("report", s3).code == 0
    assert [path.stat().st_mtime_ns for path in copied] == before
    said = mlab("status", f"{s3}-elsewhere")
    assert said.code == 2
    assert "is not a study: no study.json" in said.err
