"""An experiment's folder."""

import pytest
from tests.support.records import card

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.experiment.experiment import Experiment


def test_scorecards_are_read_back_and_a_broken_line_is_named(tmp_path):
    experiment = Experiment(tmp_path)
    experiment.add_scorecard(card(seed=1))
    with (tmp_path / "scorecards.jsonl").open("ab") as file:
        file.write(b'{"run": "torn\n{"run": "x", "future": 1}\n')
    experiment.add_scorecard(card(seed=2))
    cards, warnings = experiment.scorecards, experiment.warnings
    assert [one.seed for one in cards] == [1, 2]
    assert "line 2" in warnings[0]
    assert "line 3" in warnings[1]


def test_a_folder_that_is_no_experiment_is_said_to_be_none(tmp_path):
    with pytest.raises(UsageError, match="not an experiment"):
        _ = Experiment(tmp_path).spec


def test_a_models_name_cannot_lead_out_of_the_folder(tmp_path):
    run = RunId(task="toy", agent="../../x", model="openai/gpt:1", seed=0)
    experiment = Experiment(tmp_path)
    assert experiment.trace_path(run).resolve().parent == (tmp_path / "trace").resolve()
    assert (
        experiment.submission_folder(run).resolve().is_relative_to(tmp_path.resolve())
    )


def test_two_runs_never_share_a_file(tmp_path):
    experiment = Experiment(tmp_path)
    one = RunId(task="toy", agent="a", model="b/c", seed=0)
    other = RunId(task="toy", agent="a", model="b%2Fc", seed=0)
    assert experiment.trace_path(one) != experiment.trace_path(other)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.json"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_with_a_very_long_name_still_has_files_of_its_own(tmp_path):
    runs = [RunId(task="t", agent="a", model="m" * 400, seed=seed) for seed in (1, 2)]
    first, second = (Experiment(tmp_path).trace_path(run) for run in runs)
    assert first != second
    assert len(first.name) < 220
