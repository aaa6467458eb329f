"""A run that was cut off is resumed and ends as the undisturbed one.

Runs are killed in tests/faults and test_agents_resume; finished and forked experiments
are resumed in test_recorded_experiments; steps are scored in tests/run/test_rescore.
"""

import pytest
from tests.support.outcomes import copy_cut, outcome_of
from tests.support.quick_task import QUICK_TASK

from mlagentbench.core.errors import UsageError
from mlagentbench.core.trace import Ending
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import resume
from mlagentbench.run.replay import prompts_of

TUNER = Plan(tasks=(str(QUICK_TASK),), agent="tuner", budget=BudgetOverride(steps=10))
THINKER = Plan(
    tasks=(str(QUICK_TASK),), agent="thinker:thinker", model="scripted/thinker:script"
)
both_agents = pytest.mark.parametrize(
    "plan", [TUNER, THINKER], ids=["tuner", "thinker"]
)


@pytest.mark.slow
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


def test_an_agent_that_is_not_deterministic_is_detected_and_named(
    tmp_path, cache, undisturbed
):
    source = undisturbed(THINKER.model_copy(update={"agent": "thinker:forgetful"}))
    experiment = copy_cut(source, tmp_path / "cut", 2)
    resume(experiment, cache=cache)
    card = experiment.scorecards[-1]
    assert card.ending is Ending.BROKEN
    assert "agent not deterministic: step 2 was Write File" in card.reason


def test_fork_from_a_step_that_was_not_taken_is_refused(tmp_path, undisturbed):
    source = undisturbed(TUNER)
    (run_id,) = source.runs()
    with pytest.raises(UsageError, match="steps 1 to"):
        source.fork(run_id, 99, Experiment(tmp_path / "other"))


@pytest.mark.slow
def test_a_fork_may_use_another_model(mlab, undisturbed, tmp_path):
    changes = {"agent": "thinker:gambler", "model": "scripted/thinker:patient"}
    source, new = undisturbed(THINKER.model_copy(update=changes)), tmp_path / "new"
    (old,) = source.runs()
    assert [step.action for step in source.trace(old).steps] == [
        *["List Files"] * 4, "Final Answer",
    ]  # fmt: skip
    words = ["resume", source.folder, "--from-step", 2, "--as", new]
    words += ["--agent", source.spec.agent, "--model"]
    refused = mlab(*words, "nosuch/x")
    assert refused.code == 2
    assert not new.exists()
    mlab(*words, "scripted/thinker:hasty")
    fork = Experiment(new)
    (run,) = fork.runs()
    trace = fork.trace(run)
    assert str(run) == "quick:thinker:gambler:scripted/thinker:hasty:0"
    assert {step.run for step in trace.steps} == {str(run)}
    assert [step.action for step in trace.steps] == [
        "List Files", "List Files", "Final Answer",
    ]  # fmt: skip
    assert trace.steps[-1].input == {"final_answer": "hasty"}
    assert fork.spec.protocol_model == "scripted/thinker:patient"
    assert trace.end.ending is Ending.SUBMITTED


def test_a_model_cannot_replace_that_of_an_agent_without_one(mlab, undisturbed):
    words = ["--from-step", 1, "--as", "new", "--model", "scripted/thinker:hasty"]
    said = mlab("resume", undisturbed(TUNER).folder, *words)
    assert said.code == 2
    assert "uses no model" in said.err
    assert "only a fork" in mlab("resume", undisturbed(TUNER).folder, *words[4:]).err


@pytest.mark.slow
def test_the_prompt_of_a_step_is_what_the_model_was_sent(undisturbed):
    experiment = undisturbed(THINKER)
    (run_id,) = experiment.runs()
    (prompt,) = prompts_of(experiment, run_id, 3)
    assert [message.role for message in prompt.messages] == [
        "system", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "TREES = " in prompt.messages[3].text
    assert "was written" in prompt.messages[5].text


@pytest.mark.slow
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


def test_pruning_removes_only_what_no_trace_names(tmp_path, cache, undisturbed):
    experiment = copy_cut(undisturbed(TUNER), tmp_path / "cut", 3)
    pruned = experiment.prune()
    assert pruned.objects > 0
    assert SnapshotStore(experiment.snapshots).verify() == []
    resume(experiment, cache=cache)
    assert outcome_of(experiment) == outcome_of(undisturbed(TUNER))
    assert experiment.prune().objects == 0
