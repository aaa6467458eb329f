"""Nothing is lost: a run that was killed goes on and ends as if nothing had been."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import UsageError
from mlagentbench.core.progress import Silent
from mlagentbench.core.trace import Ending
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.pipeline import resume, run
from mlagentbench.run.replay import prompts_of
from mlagentbench.run.rescore import rescore

MLAB = Path(sys.executable).with_name("mlab")
HERE = str(Path(__file__).parent)
AGENTS = {
    "tuner": {"agent": "tuner", "budget": BudgetOverride(steps=10)},
    "thinker": {"agent": "thinker:thinker", "model": "scripted/thinker:script"},
}


def plan_for(kind, out, name="exp"):
    return Plan(tasks=("house-price",), out=out, name=name, **AGENTS[kind])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, cache):
    """Each agent's run as it is when nothing happens to it."""
    out = tmp_path_factory.mktemp("undisturbed")
    return {kind: run(plan_for(kind, out, kind), cache=cache) for kind in AGENTS}


def story(experiment):
    """What a run did and what came of it, without times."""
    (run_id,) = experiment.runs()
    steps = experiment.trace(run_id).steps
    told = [
        (s.step, s.action, s.input, s.observation, s.validation, s.snapshot)
        for s in steps
    ]
    told += [(call.request_sha, call.usage) for step in steps for call in step.calls]
    (submission,) = experiment.submission_folder(run_id).iterdir()
    (card,) = experiment.scorecards
    return told, submission.read_bytes(), card.score, card.ending


def start(kind, out, cache):
    words = ["--max-steps", "10"] if kind == "tuner" else []
    options = AGENTS[kind]
    if "model" in options:
        words += ["--model", options["model"]]
    return subprocess.Popen(
        [MLAB, "run", "house-price", "--agent", options["agent"], *words,
         "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"MLAB_CACHE": str(cache), "PYTHONPATH": HERE},
    )  # fmt: skip


def wait_for_step(process, step):
    for line in process.stderr:
        if f"step {step}/" in line:
            break


@pytest.mark.parametrize("kind", AGENTS)
def test_a_killed_run_ends_as_the_undisturbed_one(kind, tmp_path, cache, undisturbed):
    chance = random.Random(kind)
    for number in range(2):
        out = tmp_path / str(number)
        process = start(kind, out, cache)
        wait_for_step(process, chance.randint(1, 6))
        time.sleep(chance.random() * 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        (folder,) = out.iterdir()
        experiment = Experiment(folder)
        resume(experiment, cache=cache)
        assert story(experiment) == story(undisturbed[kind])
        (card,) = experiment.scorecards
        assert card.resumed <= 1


def copy_cut(source, target, lines, extra=b""):
    """Copy an experiment as a kill would leave it after some lines of its trace."""
    shutil.copytree(source.folder, target)
    shutil.rmtree(target / "submissions", ignore_errors=True)
    (target / "scorecards.jsonl").unlink(missing_ok=True)
    (trace,) = (target / "trace").iterdir()
    whole = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(whole[:lines]) + extra)
    return Experiment(target), len(whole)


@pytest.mark.parametrize("kind", AGENTS)
def test_every_boundary_of_the_trace_can_be_resumed_from(
    kind, tmp_path, cache, undisturbed
):
    source = undisturbed[kind]
    (run_id,) = source.runs()
    count = len(source.trace_path(run_id).read_bytes().splitlines())
    chosen = {1, count // 2, count - 2, count - 1, count}
    for lines in sorted(chosen):
        torn = b'{"kind": "step", "v": 1, "run"' if lines % 2 else b""
        experiment, _ = copy_cut(source, tmp_path / str(lines), lines, torn)
        resume(experiment, cache=cache)
        assert story(experiment) == story(source), lines


def test_a_finished_experiment_needs_nothing_and_is_not_touched(undisturbed, cache):
    experiment = undisturbed["tuner"]
    before = {path: path.read_bytes() for path in experiment.folder.rglob("*.jsonl")}
    assert resume(experiment, cache=cache) == []
    assert before == {path: path.read_bytes() for path in before}
    said = subprocess.run(
        [MLAB, "resume", experiment.folder], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0
    assert "nothing to resume" in said.stdout


def test_an_agent_that_is_not_deterministic_is_caught_and_named(tmp_path, cache):
    plan = Plan(
        tasks=("house-price",), agent="thinker:forgetful", out=tmp_path, name="exp"
    )
    source = run(plan, cache=cache)
    experiment, _ = copy_cut(source, tmp_path / "cut", 2)
    resume(experiment, cache=cache)
    card = experiment.scorecards[-1]
    assert card.ending is Ending.BROKEN
    assert "agent not deterministic: step 2 was Write File" in card.reason


def test_a_fork_has_the_same_history_and_workspace_up_to_its_step(
    tmp_path, cache, undisturbed
):
    source = undisturbed["tuner"]
    (run_id,) = source.runs()
    target = Experiment(tmp_path / "forked")
    source.fork(run_id, 6, target)
    resume(target, cache=cache)
    old = source.trace(run_id).steps
    new = target.trace(run_id).steps
    assert new[:6] == old[:6]
    assert story(target)[1:3] == story(source)[1:3]
    with pytest.raises(UsageError, match="steps 1 to"):
        source.fork(run_id, 99, Experiment(tmp_path / "other"))


def test_two_processes_cannot_work_on_one_experiment(tmp_path, cache, undisturbed):
    experiment, _ = copy_cut(undisturbed["tuner"], tmp_path / "cut", 3)
    with experiment.lock():
        said = subprocess.run(
            [MLAB, "resume", experiment.folder],
            capture_output=True, text=True, check=False,
            env=os.environ | {"MLAB_CACHE": str(cache)},
        )  # fmt: skip
    assert said.returncode == 2
    assert "another mlab is at work" in said.stderr


def test_the_prompt_of_a_step_is_what_the_model_saw(undisturbed):
    experiment = undisturbed["thinker"]
    (run_id,) = experiment.runs()
    (prompt,) = prompts_of(experiment, run_id, 3)
    assert [message.role for message in prompt.messages] == [
        "system", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "TREES = " in prompt.messages[3].text
    assert "was written" in prompt.messages[5].text


def test_tokens_are_counted_from_the_recorded_replies(undisturbed):
    (card,) = undisturbed["thinker"].scorecards
    assert card.tokens["input"] == sum(100 * (turn + 1) for turn in range(card.steps))
    assert card.success


def test_a_token_budget_ends_the_run(tmp_path, cache):
    plan = plan_for("thinker", tmp_path).model_copy(
        update={"budget": BudgetOverride(tokens=250)}
    )
    (card,) = run(plan, cache=cache).scorecards
    assert card.ending is Ending.OUT_OF_TOKENS
    assert card.steps == 2


def test_a_replayed_model_says_again_what_it_said(tmp_path, cache, undisturbed):
    source = undisturbed["thinker"]
    (run_id,) = source.runs()
    plan = plan_for("thinker", tmp_path).model_copy(
        update={"model": f"replay/{source.trace_path(run_id)}"}
    )
    again = run(plan, cache=cache)
    assert story(again) == story(source)


def test_every_step_can_be_scored_and_going_on_judges_only_the_rest(cache, undisturbed):
    experiment = undisturbed["tuner"]
    (run_id,) = experiment.runs()
    (card,) = rescore(experiment, cache, Silent(), steps=True)
    scores = experiment.step_scores()[str(run_id)]
    steps = experiment.trace(run_id).steps
    executed = [step.step for step in steps if step.action == "Execute Script"]
    assert [one.step for one in scores if one.score is not None] == executed
    assert scores[0].submission_error == "it is not there"
    assert scores[-1].score == card.score
    assert card.best_step.score == min(
        one.score for one in scores if one.score is not None
    )
    assert card.by_budget[-1].score == card.score
    lines = (experiment.folder / "steps.jsonl").read_bytes()
    rescore(experiment, cache, Silent(), steps=True)
    assert (experiment.folder / "steps.jsonl").read_bytes() == lines


def test_pruning_drops_what_no_trace_names_and_nothing_else(
    tmp_path, cache, undisturbed
):
    experiment, _ = copy_cut(undisturbed["tuner"], tmp_path / "cut", 3)
    pruned = experiment.prune()
    assert pruned.objects > 0
    assert SnapshotStore(experiment.snapshots).verify() == []
    resume(experiment, cache=cache)
    assert story(experiment) == story(undisturbed["tuner"])
    assert experiment.prune().objects == 0
