"""Progress of runs."""

from tests.support.records import experiment_spec, step, toy_task

from mlagentbench.cli.console import Screen
from mlagentbench.core.trace import Measurement, Seconds
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import TraceWriter


def test_a_resumed_run_keeps_its_best_score_and_its_clock(tmp_path, capsys):
    experiment = Experiment(tmp_path / "exp")
    experiment.create(experiment_spec(toy_task()))
    (run,) = experiment.runs()
    best = Measurement(metric="mae", value=80.0)
    with TraceWriter(experiment.trace_path(run)) as trace:
        trace.append(step(1, validation=best, seconds=Seconds(execute=125.0)))
    screen = Screen(experiment)
    screen.run_started(run, toy_task())
    worse = Measurement(metric="mae", value=90.0)
    screen.step_taken(run, step(2, validation=worse))
    progress = capsys.readouterr().err
    assert "step 2/" in progress
    assert "mae 80" in progress
    assert "2:0" in progress
