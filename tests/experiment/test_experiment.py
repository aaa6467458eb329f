"""An experiment's folder."""

import pytest
from tests.support.records import card, end

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.units import Units
from mlagentbench.experiment.experiment import Experiment, StepScore
from mlagentbench.experiment.trace_file import TraceWriter


def test_a_folder_without_experiment_json_is_not_an_experiment(tmp_path):
    with pytest.raises(UsageError, match="not an experiment"):
        _ = Experiment(tmp_path).spec


def test_files_of_a_run_are_inside_the_folder_whatever_its_name(tmp_path):
    run = RunId(task="toy", agent="../../x", model="openai/gpt:1", seed=0)
    experiment = Experiment(tmp_path)
    assert experiment.trace_path(run).resolve().parent == (tmp_path / "trace").resolve()
    assert (
        experiment.submission_folder(run).resolve().is_relative_to(tmp_path.resolve())
    )


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.json"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "models", [("b/c", "b%2Fc"), ("m" * 400 + "1", "m" * 400 + "2")]
)
def test_two_runs_never_share_a_file(tmp_path, models):
    runs = [RunId(task="t", agent="a", model=model, seed=0) for model in models]
    first, second = (Experiment(tmp_path).trace_path(run) for run in runs)
    assert first != second
    assert len(first.name) < 220


def test_a_trace_is_read_by_the_name_of_its_run(tmp_path):
    run = RunId(task="toy", agent="a", model="b/c", seed=0)
    experiment = Experiment(tmp_path)
    assert experiment.trace(run).steps == ()
    with TraceWriter(experiment.trace_path(run)) as writer:
        writer.append(end(str(run)))
    assert experiment.trace("toy:a:b/c:0").end == end(str(run))
    assert experiment.trace(run) == experiment.trace(str(run))


def test_a_damaged_trace_is_reported_with_its_line(tmp_path):
    run = RunId(task="toy", agent="a", model="m", seed=0)
    experiment = Experiment(tmp_path)
    assert experiment.trace_damage(run) is None
    path = experiment.trace_path(run)
    path.parent.mkdir()
    path.write_bytes(b"{}\n")
    assert "line 1 is damaged" in experiment.trace_damage(run)


def test_only_one_process_may_write_at_a_time(tmp_path):
    experiment = Experiment(tmp_path)
    with (
        experiment.lock(new=True),
        pytest.raises(UsageError, match="another mlab"),
        Experiment(tmp_path).lock(new=True),
    ):
        pass


def test_step_scores_are_sorted_and_truncated_lines_are_left_out(tmp_path):
    experiment = Experiment(tmp_path)
    scores = [StepScore(run="r", step=step, submission="s", score=0) for step in (2, 1)]
    with experiment.open_step_scores() as file:
        for score in scores:
            file.append(score.model_dump_json())
    with (tmp_path / "steps.jsonl").open("ab") as steps:
        steps.write(b'{"run": "r", "st')
    assert experiment.step_scores() == {"r": scores[::-1]}


def test_units_of_a_run_are_kept_until_a_grading_returns_none(tmp_path):
    run = RunId(task="toy", agent="a", model="b/c", seed=0)
    experiment = Experiment(tmp_path)
    units = Units(values=((0.5,), (1.5,)), clusters=(0, 0))
    assert experiment.read_units(run) is None
    experiment.write_units(run, units)
    assert experiment.read_units(str(run)) == units
    assert experiment.units == {}
    experiment.add_scorecard(card(task="toy", agent="a", model="b/c"))
    assert experiment.units == {str(run): units}
    experiment.write_units(run, None)
    assert experiment.units == {}
