"""How far an experiment is, read beside a process that writes to it."""

import pytest
from tests.support.records import card, end, experiment_spec, model_call, step, toy_task

from mlagentbench.core.trace import Called, Ending, Measurement, Spent
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.status import State, read_status
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.tasks.load import load_task

RUNS = [f"house-price:a:none:{seed}" for seed in range(4)]


@pytest.fixture
def experiment(tmp_path):
    """One run of each state: finished, stopped, running, waiting."""
    found = Experiment(tmp_path / "exp")
    task = toy_task(id="house-price", version=load_task("house-price").version)
    found.create(experiment_spec(task, seeds=(0, 1, 2, 3)))
    found.add_scorecard(card("house-price", 0, score=90.0, cost_usd=1.0))
    found.add_scorecard(card("house-price", 1, ending=Ending.INTERRUPTED))
    with TraceWriter(found.trace_path(RUNS[2])) as trace:
        for number, mae in enumerate((95.0, 80.0, 85.0), start=1):
            measured = Measurement(metric="mae", value=mae)
            spent = Spent(steps=number, cost=0.5)
            trace.append(step(number, run=RUNS[2], validation=measured, spent=spent))
        trace.append(Called(run=RUNS[2], call=model_call(cost=0.25)))
    return found


def test_every_state_is_told_from_the_files(experiment):
    status = read_status(experiment)
    assert [run.state for run in status.runs] == [
        State.FINISHED, State.STOPPED, State.RUNNING, State.WAITING,
    ]  # fmt: skip
    assert not status.is_over
    assert status.runs[0].score == 90.0
    running = status.runs[2]
    assert (running.steps, running.now) == (3, "Execute Script")
    assert running.best_validation == 80.0


def test_cost_includes_replies_of_a_step_that_is_not_recorded_yet(experiment):
    assert read_status(experiment).cost_usd == 1.75


def test_half_written_lines_are_ignored(experiment):
    before = read_status(experiment)
    for path in (
        experiment.trace_path(RUNS[2]),
        experiment.folder / "scorecards.jsonl",
    ):
        with path.open("ab") as file:
            file.write(b'{"kind": "step", "v": 1, "ru')
    after = read_status(experiment)
    assert [run.state for run in after.runs] == [run.state for run in before.runs]
    assert after.runs[2].steps == 3


def test_nothing_is_locked_or_written(experiment):
    before = {path: path.stat().st_mtime_ns for path in experiment.folder.rglob("*")}
    with experiment.lock():
        read_status(experiment)
    after = {path: path.stat().st_mtime_ns for path in experiment.folder.rglob("*")}
    assert {path for path in after if path.name != ".lock"} == set(before)


def test_a_run_that_has_ended_but_has_no_scorecard_is_being_graded(experiment):
    with TraceWriter(experiment.trace_path(RUNS[2])) as trace:
        trace.append(end(RUNS[2]))
    assert read_status(experiment).runs[2].now == "grading"


def test_a_damaged_trace_is_named(experiment):
    path = experiment.trace_path(RUNS[2])
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    run = read_status(experiment).runs[2]
    assert run.now == "broken"
    assert "line 1 is damaged" in run.reason
