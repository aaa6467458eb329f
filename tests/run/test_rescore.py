"""Saved submissions are graded again."""

import logging
import shutil

import pytest
from tests.support.records import end, experiment_spec, model_call, step

from mlagentbench.core.progress import Silent
from mlagentbench.core.trace import Called, Measurement, Seconds, Spent
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache
from mlagentbench.evaluation.cost import Price
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import TraceWriter
from mlagentbench.run.rescore import rescore_experiment
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task

STEPS = 14
SEEDS = (0, 1, 2)
PRICE = Price(input=1.0, output=0.0)


class Counting:
    def __init__(self):
        self.labels = []
        self.done = 0

    def start(self, label, total):
        self.labels.append((label, total))

    def advance(self, amount):
        self.done += amount


@pytest.fixture(scope="module")
def perfect(cache):
    task = load_task("house-price")
    return (prepare_task(task, cache).private / task.truth).read_text()


@pytest.fixture
def experiment(tmp_path, perfect):
    """Three runs: nothing until step 4, a bad one, at 11 perfect, at 13 deleted."""
    task = load_task("house-price")
    experiment = Experiment(tmp_path / "experiment")
    experiment.create(experiment_spec(task, model="provider/m", seeds=SEEDS))
    for run in experiment.runs():
        _write(experiment, run, perfect, tmp_path / f"workspace{run.seed}")
    return experiment


def _write(experiment, run, perfect, workspace):
    store = SnapshotStore(experiment.snapshots, run=str(run))
    workspace.mkdir()
    answers = workspace / "submission.csv"
    head, *rows = perfect.splitlines()
    known = StatCache()
    with TraceWriter(experiment.trace_path(run)) as trace:
        for number in range(1, STEPS + 1):
            if number == 4:
                zeros = [f"{row.split(',')[0]},0" for row in rows]
                answers.write_text("\n".join([head, *zeros]) + "\n")
            if number == 11:
                answers.write_text(perfect)
            if number == 13:
                answers.unlink()
            snapshot = store.take(workspace, previous=known).id
            trace.append(Called(run=str(run), call=_call()))
            trace.append(_step(run, number, snapshot))
        trace.append(end(str(run), spent=Spent(steps=STEPS)))
    submission = experiment.submission_folder(run)
    submission.mkdir(parents=True)
    (submission / "submission.csv").write_text(perfect)


def _call():
    return model_call(model="provider/m", usage={"input": 1000, "output": 5})


def _step(run, number, snapshot):
    measured = Measurement(metric="mae", value=180_000.0) if number == 4 else None
    return step(
        number, run=str(run), snapshot=snapshot, seconds=Seconds(execute=1),
        validation=measured,
        spent=Spent(steps=number, seconds=number, tokens=1005 * number),
    )  # fmt: skip


def test_every_run_is_graded_with_progress(experiment, cache):
    progress = Counting()
    cards = rescore_experiment(experiment, cache, progress)
    assert [card.seed for card in cards] == [*SEEDS]
    assert {card.score for card in cards} == {0.0}
    assert all(card.success for card in cards)
    assert ("grading 3 runs", 3) in progress.labels
    assert progress.done == 3
    assert (experiment.scorecards, experiment.warnings) == (cards, [])


def test_scorecard_without_step_scores_has_no_budget_curve(experiment, cache):
    card = rescore_experiment(experiment, cache, Silent())[0]
    assert (card.best_step, card.first_success, card.by_budget) == (None, None, ())


def test_step_scores_yield_scores_at_smaller_budgets(experiment, cache):
    card = rescore_experiment(experiment, cache, Silent(), steps=True)[0]
    assert card.best_step.step == 11
    found = card.first_success
    assert (found.step, found.seconds, found.tokens) == (11, 11.0, 1005 * 11)
    bad = experiment.step_scores()[str(experiment.runs()[0])][1].score
    assert bad > 100_000
    budgets = {point.steps: (point.score, point.success) for point in card.by_budget}
    done = (0.0, True)
    assert budgets == {10: (bad, False), 14: done, 20: done, 50: done}


def test_steps_that_change_the_submission_are_recorded(experiment, cache):
    rescore_experiment(experiment, cache, Silent(), steps=True)
    scores = experiment.step_scores()[str(experiment.runs()[1])]
    assert [one.step for one in scores] == [1, 4, 11, 13]
    assert [one.score is None for one in scores] == [True, False, False, True]
    assert scores[0].submission_error == "the submission is missing"


def test_graded_steps_are_not_graded_again(experiment, cache):
    rescore_experiment(experiment, cache, Silent(), steps=True)
    lines = (experiment.folder / "steps.jsonl").read_bytes()
    progress = Counting()
    rescore_experiment(experiment, cache, progress, steps=True)
    assert (experiment.folder / "steps.jsonl").read_bytes() == lines
    assert progress.done == len(SEEDS)


def test_price_table_changes_the_cost_without_model_calls(experiment, cache):
    card = rescore_experiment(experiment, cache, Silent())[0]
    assert (card.cost_usd, card.unpriced) == (0.0, ("provider/m",))
    priced = rescore_experiment(
        experiment, cache, Silent(), prices={"provider/m": PRICE}
    )[0]
    assert priced.cost_usd == pytest.approx(STEPS * 0.001)
    assert priced.unpriced == ()


def test_damaged_trace_keeps_its_scorecard_and_others_are_graded(experiment, cache):
    before = rescore_experiment(experiment, cache, Silent())
    damaged = experiment.trace_path(experiment.runs()[1])
    damaged.write_bytes(b"{}\n" + damaged.read_bytes())
    after = rescore_experiment(experiment, cache, Silent())
    assert after[1] == before[1]
    assert [card.score for card in after] == [0.0, 0.0, 0.0]


def test_damaged_trace_without_scorecard_is_broken_with_reason(experiment, cache):
    experiment.trace_path(experiment.runs()[1]).write_bytes(b"{}\n")
    cards = rescore_experiment(experiment, cache, Silent())
    assert [card.ending.counts for card in cards] == [True, False, True]
    assert "damaged" in cards[1].reason


def test_missing_submission_is_the_agents_failure(experiment, cache):
    shutil.rmtree(experiment.submission_folder(experiment.runs()[2]))
    cards = rescore_experiment(experiment, cache, Silent())
    assert cards[2].submission_error == "nothing was collected"
    assert cards[1].success


@pytest.mark.parametrize("lost", ["submission.csv", "."])
def test_a_score_stays_if_its_submission_was_lost(experiment, cache, caplog, lost):
    before = rescore_experiment(experiment, cache, Silent())
    folder = experiment.submission_folder(experiment.runs()[1])
    (folder / "submission.csv").unlink()
    if lost == ".":
        folder.rmdir()
    package = logging.getLogger("mlagentbench")
    package.addHandler(caplog.handler)
    after = rescore_experiment(experiment, cache, Silent())
    package.removeHandler(caplog.handler)
    assert after[1] == before[1] == experiment.scorecards[1]
    (warning,) = set(caplog.messages)
    assert "house-price:a:provider/m:1 is not graded again" in warning
    assert "submission file submission.csv is missing" in warning
