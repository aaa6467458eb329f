"""Whole runs in the real sandbox; on real data where the score is what is tested."""

import json

import pytest
from hands import BAD_SUBMISSIONS
from tests.support.quick_task import QUICK_TASK
from thinking import trace_of

from mlagentbench.core.progress import Silent
from mlagentbench.core.trace import Ending
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import run
from mlagentbench.run.rescore import rescore_experiment
from mlagentbench.tasks.load import load_task


@pytest.fixture
def carry_out(tmp_path, cache):
    """Run one agent on one task and return the experiment and its scorecards."""

    def go(agent, task=QUICK_TASK, *, name="exp", **options):
        plan = Plan(tasks=(str(task),), agent=agent, out=tmp_path, name=name, **options)
        experiment = run(plan, cache=cache)
        cards, warnings = experiment.scorecards, experiment.warnings
        assert warnings == []
        return experiment, cards

    return go


def test_two_seeds_are_two_runs_and_the_same_seed_scores_the_same(carry_out):
    experiment, cards = carry_out("starter", name="one", seeds=(1, 2))
    _, again = carry_out("starter", name="two", seeds=(1, 2), parallel=2)
    scores = {card.seed: card.score for card in cards}
    assert scores == {card.seed: card.score for card in again}
    assert scores[1] != scores[2]
    assert len(list((experiment.folder / "trace").iterdir())) == 2
    assert len(list((experiment.folder / "submissions").iterdir())) == 2
    assert list(experiment.logs.glob("*.eval"))


def test_the_starter_reproduces_its_measured_score_and_never_succeeds(carry_out):
    task = load_task("house-price")
    _, (card,) = carry_out("starter", "house-price", seeds=(3,))
    assert card.ending is Ending.SUBMITTED
    # Other processors may round differently, so not to the last digit.
    assert card.score == pytest.approx(task.measured.starter.scores[3], rel=0.01)
    assert not card.success


def test_the_reference_succeeds_and_the_record_is_complete(carry_out, cache):
    experiment, (card,) = carry_out("reference", "house-price")
    assert card.success
    assert card.significant
    assert card.improvement > 0.15
    spec = json.loads((experiment.folder / "experiment.json").read_text())
    assert spec["agent_env"]["base"]
    assert spec["limits"]
    assert spec["packages"]["inspect_ai"]
    trace = trace_of(experiment)
    assert [step.step for step in trace.steps] == list(range(1, len(trace.steps) + 1))
    assert trace.end.ending is Ending.SUBMITTED
    executed = next(s for s in trace.steps if s.action == "Execute Script")
    assert "(measured)" in executed.note
    (rescored,) = rescore_experiment(experiment, cache, Silent())
    assert rescored.score == card.score


@pytest.mark.slow
def test_the_tuner_improves_by_more_than_the_threshold_within_its_budget(carry_out):
    budget = BudgetOverride(steps=25)
    experiment, (card,) = carry_out("tuner", "house-price", budget=budget)
    assert card.ending is Ending.SUBMITTED
    assert card.steps <= 25
    assert card.success
    steps = trace_of(experiment).steps
    measured = [s.validation.value for s in steps if s.validation]
    last = [s for s in steps if s.action == "Execute Script"][-1]
    assert last.validation.value == pytest.approx(min(measured))


@pytest.mark.slow
def test_every_bad_submission_is_refused_with_its_reason(carry_out):
    seeds = tuple(range(len(BAD_SUBMISSIONS)))
    _, cards = carry_out("hands:bad_submitter", seeds=seeds, parallel=2)
    assert len(cards) == len(BAD_SUBMISSIONS)
    reasons = dict(
        zip(BAD_SUBMISSIONS, sorted(cards, key=lambda c: c.seed), strict=True)
    )
    for case, card in reasons.items():
        assert card.ending is Ending.SUBMITTED, (case, card.reason)
        assert card.score is None, case
        assert card.submission_error, case
        assert not card.success
    assert "missing" in reasons["missing"].submission_error
    assert "larger than 1 MB" in reasons["too large"].submission_error
    assert "folder" in reasons["a folder"].submission_error


@pytest.mark.parametrize(
    ("agent", "ending"),
    [
        ("hands:quitter", Ending.STOPPED),
        ("hands:raiser", Ending.CRASHED),
        ("hands:endless", Ending.OUT_OF_STEPS),
    ],
)
def test_however_an_agent_ends_it_has_a_scorecard(carry_out, agent, ending):
    _, (card,) = carry_out(agent, budget=BudgetOverride(steps=4))
    assert card.ending is ending
    assert "missing" in card.submission_error


def test_a_script_that_ignores_signals_ends_within_its_limit(carry_out):
    budget = BudgetOverride(minutes=0.05)
    experiment, (card,) = carry_out("hands:sleeper", budget=budget)
    assert card.ending is Ending.OUT_OF_TIME
    assert card.seconds.execute < 10 * 3
    steps = trace_of(experiment).steps
    assert "ignoring" in steps[-1].observation


def test_wall_time_limit_ends_the_run_in_the_middle_of_an_execution(carry_out):
    budget = BudgetOverride(minutes=60, wall_minutes=0.05)
    experiment, (card,) = carry_out("hands:sleeper", budget=budget)
    assert card.ending is Ending.OUT_OF_TIME
    assert card.reason == "wall-time limit of 0.05 minutes"
    trace = trace_of(experiment)
    assert "Final Answer" not in [step.action for step in trace.steps]
    assert trace.end.seconds < 10 * 60


def test_wrong_calls_become_observations(carry_out):
    experiment, (card,) = carry_out("hands:fumbler")
    assert card.ending is Ending.SUBMITTED
    steps = trace_of(experiment).steps
    seen = [step.observation for step in steps]
    assert "there are: List Files" in seen[0]
    assert "Usage: Read File takes" in seen[1]
    assert "outside the workspace" in seen[2]
    assert "read-only" in seen[3]
    assert seen[5] == "made"
    assert "No such file" in seen[6]
    assert [step.refused for step in steps[6:]] == [{}, {"memfd_create": 1}, {}]
    assert card.errors == {"unknown_action": 1, "action_failed": 4}


def test_edits_can_be_appended_copied_and_undone_in_sub_folders_too(carry_out):
    experiment, _ = carry_out("hands:editor")
    steps = trace_of(experiment).steps
    seen = [step.observation for step in steps]
    assert seen[4].endswith("It now holds:\ntwo")
    assert seen[5].endswith("It now holds:\none")
    assert "no change of sub/dir/notes.txt to undo" in seen[6]
    assert seen[7] == "two three"
    assert steps[8].ok
    assert "read-only" in seen[9]
    assert "read-only" in seen[10]
    assert seen[11] == "/workspace\n"
    assert "NameError" in seen[12]
    assert "no file absent" in seen[13]


def test_full_text_of_a_shortened_observation_is_kept(carry_out, mlab, tmp_path):
    experiment, _ = carry_out("hands:printer")
    (run_id,) = experiment.runs()
    printed, answer = experiment.trace(run_id).steps
    assert len(printed.observation) < 21_000
    assert "characters left out" in printed.observation
    assert answer.observation_blob is None
    path = experiment.observation_path(printed.observation_blob)
    assert path.read_text().strip() == "a" * 30_000 + "end"
    said = mlab("show", experiment.folder, "--step", "1")
    assert f"full observation: {path}" in said.out
    forked = Experiment(tmp_path / "forked")
    experiment.fork(run_id, 1, forked)
    assert forked.observation_path(printed.observation_blob).is_file()
