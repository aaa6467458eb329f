"""Progress of runs and of studies."""

from tests.support.records import experiment_spec, step, toy_task

from mlagentbench.cli.console import Screen, StudyScreen
from mlagentbench.core.trace import Measurement, Seconds
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.study.executor import CellEvent, Outcome


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


def test_a_study_shows_running_cells_and_counts_the_others(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with StudyScreen() as screen:
        screen.study_started(cells=4, published=1)
        for cell in "abc":
            screen.cell_changed(CellEvent(cell=cell, kind="started", place="[red]n1"))
        screen.cell_changed(CellEvent(cell="a", kind="step", place="[red]n1", steps=7))
        done = {"kind": "ended", "outcome": Outcome.PUBLISHED}
        screen.cell_changed(CellEvent(cell="b", **done))
        failed = {
            "kind": "ended",
            "outcome": Outcome.FAILED,
            "reason": "no\x1b[1m disk",
        }
        screen.cell_changed(CellEvent(cell="c", **failed))
        screen.notice("no more cells start: cancelled")
    shown = capsys.readouterr().err
    assert "c  failed: no\u241b[1m disk" in shown
    assert "no more cells start: cancelled" in shown
    last = shown.rpartition("no more cells start: cancelled")[2]
    assert "a  [red]n1  step 7" in last
    assert "2 of 4 cells done, 1 running, 1 failed" in last
