"""A run that was killed is resumed and ends as the undisturbed one."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.outcomes import copy_cut, outcome_of
from thinking import HERE, MEASURED, trace_of

from mlagentbench.core.errors import UsageError
from mlagentbench.core.progress import Silent
from mlagentbench.core.trace import Ending
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import resume, run
from mlagentbench.run.replay import prompts_of
from mlagentbench.run.rescore import rescore_experiment

MLAB = Path(sys.executable).with_name("mlab")
TUNER = Plan(tasks=(str(MEASURED),), agent="tuner", budget=BudgetOverride(steps=10))
THINKER = Plan(
    tasks=(str(MEASURED),), agent="thinker:thinker", model="scripted/thinker:script"
)
both_agents = pytest.mark.parametrize(
    "plan", [TUNER, THINKER], ids=["tuner", "thinker"]
)


def start(plan, out, cache):
    words = ["--max-steps", str(plan.budget.steps)] if plan.budget.steps else []
    return subprocess.Popen(
        [MLAB, "run", *plan.tasks, "--agent", plan.agent, "--model", plan.model,
         *words, "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"MLAB_CACHE": str(cache), "PYTHONPATH": str(HERE)},
    )  # fmt: skip


def wait_for_step(process, step):
    for line in process.stderr:
        if f"step {step}/" in line:
            break


@both_agents
def test_a_killed_run_ends_as_the_undisturbed_one(plan, tmp_path, cache, undisturbed):
    chance = random.Random(plan.agent)
    process = start(plan, tmp_path, cache)
    wait_for_step(process, chance.randint(1, 6))
    time.sleep(chance.random() / 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (folder,) = tmp_path.iterdir()
    experiment = Experiment(folder)
    resume(experiment, cache=cache)
    assert outcome_of(experiment) == outcome_of(undisturbed(plan))
    (card,) = experiment.scorecards
    assert card.resumed <= 1


@both_agents
def test_a_run_can_be_resumed_from_every_boundary_of_its_trace(
    plan, tmp_path, cache, undisturbed
):
    source = undisturbed(plan)
    (run_id,) = source.runs()
    count = len(source.trace_path(run_id).read_bytes().splitlines())
    for lines in (1, count // 2, count - 2, count - 1, count):
        torn = b'{"kind": "step", "v": 1, "run"' if lines % 2 else b""
        experiment = copy_cut(source, tmp_path / str(lines), lines, torn)
        resume(experiment, cache=cache)
        assert outcome_of(experiment) == outcome_of(source), lines


def test_a_finished_experiment_needs_nothing_and_is_not_changed(copy_of, cache):
    experiment = copy_of(TUNER)
    before = {path: path.read_bytes() for path in experiment.folder.rglob("*.jsonl")}
    assert resume(experiment, cache=cache) == []
    assert before == {path: path.read_bytes() for path in before}


def test_resume_says_that_a_finished_experiment_needs_nothing(copy_of, mlab):
    said = mlab("resume", copy_of(TUNER).folder)
    assert said.code == 0
    assert "nothing to resume" in said.out


def test_an_agent_that_is_not_deterministic_is_detected_and_named(
    tmp_path, cache, undisturbed
):
    source = undisturbed(THINKER.model_copy(update={"agent": "thinker:forgetful"}))
    experiment = copy_cut(source, tmp_path / "cut", 2)
    resume(experiment, cache=cache)
    card = experiment.scorecards[-1]
    assert card.ending is Ending.BROKEN
    assert "agent not deterministic: step 2 was Write File" in card.reason


def test_a_fork_has_the_same_history_and_workspace_up_to_its_step(
    tmp_path, cache, undisturbed
):
    source = undisturbed(TUNER)
    (run_id,) = source.runs()
    target = Experiment(tmp_path / "forked")
    source.fork(run_id, 6, target)
    resume(target, cache=cache)
    assert trace_of(target).steps[:6] == trace_of(source).steps[:6]
    forked, original = outcome_of(target), outcome_of(source)
    assert forked.submission == original.submission
    assert forked.score == original.score
    with pytest.raises(UsageError, match="steps 1 to"):
        source.fork(run_id, 99, Experiment(tmp_path / "other"))


def test_two_processes_cannot_work_on_one_experiment(tmp_path, mlab, undisturbed):
    experiment = copy_cut(undisturbed(TUNER), tmp_path / "cut", 3)
    with experiment.lock():
        said = mlab("resume", experiment.folder)
    assert said.code == 2
    assert "another mlab is at work" in said.err


def test_the_prompt_of_a_step_is_what_the_model_was_sent(undisturbed):
    experiment = undisturbed(THINKER)
    (run_id,) = experiment.runs()
    (prompt,) = prompts_of(experiment, run_id, 3)
    assert [message.role for message in prompt.messages] == [
        "system", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "TREES = " in prompt.messages[3].text
    assert "was written" in prompt.messages[5].text


def test_tokens_are_counted_from_the_recorded_replies(undisturbed):
    (card,) = undisturbed(THINKER).scorecards
    assert card.tokens["input"] == sum(100 * (turn + 1) for turn in range(card.steps))
    assert card.success


def test_a_token_budget_ends_the_run(undisturbed):
    budget = BudgetOverride(tokens=250)
    experiment = undisturbed(THINKER.model_copy(update={"budget": budget}))
    (card,) = experiment.scorecards
    assert card.ending is Ending.OUT_OF_TOKENS
    assert card.steps == 2


def test_a_replayed_model_gives_the_same_replies_again(tmp_path, cache, undisturbed):
    source = undisturbed(THINKER)
    (run_id,) = source.runs()
    given = {"model": f"replay/{source.trace_path(run_id)}", "out": tmp_path}
    again = run(THINKER.model_copy(update=given), cache=cache)
    assert outcome_of(again) == outcome_of(source)


def test_every_step_can_be_scored_and_no_step_is_graded_twice(cache, copy_of):
    experiment = copy_of(TUNER)
    (run_id,) = experiment.runs()
    (card,) = rescore_experiment(experiment, cache, Silent(), steps=True)
    scores = experiment.step_scores()[str(run_id)]
    steps = trace_of(experiment).steps
    executed = [step.step for step in steps if step.action == "Execute Script"]
    assert [one.step for one in scores if one.score is not None] == executed
    assert scores[0].submission_error == "it is not there"
    assert scores[-1].score == card.score
    assert card.best_step.score == min(
        one.score for one in scores if one.score is not None
    )
    assert card.by_budget[-1].score == card.score
    lines = (experiment.folder / "steps.jsonl").read_bytes()
    rescore_experiment(experiment, cache, Silent(), steps=True)
    assert (experiment.folder / "steps.jsonl").read_bytes() == lines


def test_pruning_removes_only_what_no_trace_names(tmp_path, cache, undisturbed):
    experiment = copy_cut(undisturbed(TUNER), tmp_path / "cut", 3)
    pruned = experiment.prune()
    assert pruned.objects > 0
    assert SnapshotStore(experiment.snapshots).verify() == []
    resume(experiment, cache=cache)
    assert outcome_of(experiment) == outcome_of(undisturbed(TUNER))
    assert experiment.prune().objects == 0
