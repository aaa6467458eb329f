"""A task whose submission is code that is timed, through the real pipeline."""

import asyncio
import math
import multiprocessing
import os
import re
import statistics
import sys

import pytest

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import Plan
from mlagentbench.grading.submission import grade_saved
from mlagentbench.run.pipeline import run
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare
from mlagentbench.tasks.suite.vectorization.metric import unpack_cases


@pytest.fixture
def carry_out(tmp_path, cache):
    """Run one agent on vectorization and return its card and its steps."""

    def go(agent):
        plan = Plan(tasks=("vectorization",), agent=agent, out=tmp_path, name="exp")
        experiment = run(plan, cache=cache)
        (card,) = experiment.scorecards
        assert experiment.warnings == []
        (run_id,) = experiment.runs()
        return card, experiment.trace(run_id).steps

    return go


@pytest.fixture
def busy_core():
    """Another process that keeps a core busy."""
    burner = multiprocessing.get_context("spawn").Process(target=_burn, daemon=True)
    burner.start()
    yield
    burner.kill()
    burner.join()


def test_the_reference_is_twenty_times_faster_than_the_starter(carry_out):
    card, steps = carry_out("reference")
    assert card.ending is Ending.SUBMITTED
    assert card.score <= 0.05
    low, high = card.score_ci
    assert low <= card.score <= high
    executed = next(step for step in steps if step.action == "Execute Script")
    assert executed.validation.metric == "relative_time"
    assert executed.validation.value < 0.5


def test_code_is_measured_when_it_changed_and_only_then(carry_out):
    card, steps = carry_out("coders:repeater")
    first, again, other = [s for s in steps if s.action == "Execute Script"]
    assert first.validation.value == pytest.approx(1, abs=0.6)
    assert again.validation is None
    assert other.validation.value < first.validation.value / 2
    assert card.score < 0.5


def test_the_agent_is_told_nothing_of_hidden_inputs(carry_out, cache):
    card, steps = carry_out("coders:telltale")
    prepared = prepare(load_task("vectorization"), cache)
    visible = prepared.public / "data" / "inputs" / "input0.arrays"
    first = next(unpack_cases(visible.read_bytes()))
    told = re.search(r"seen (-?[\d.e-]+)", steps[1].observation)
    assert math.isclose(float(told[1]), float(first.images.sum()), rel_tol=1e-6)
    assert card.score is None
    assert "RuntimeError" in card.submission_error


def test_the_verdict_is_the_same_while_a_core_is_busy(cache, busy_core):
    scores = _gradings(cache, 5, "visible")
    assert all(score < 0.25 for score in scores), scores


@pytest.mark.minutes
def test_the_verdict_is_the_same_in_twenty_gradings_while_a_core_is_busy(
    cache, busy_core, capsys
):
    scores = _gradings(cache, 20, "hidden")
    spread = statistics.stdev(scores) / statistics.mean(scores)
    with capsys.disabled():
        sys.stdout.write(f"\n{min(scores):.4f} to {max(scores):.4f}, sd {spread:.1%}\n")
    assert all(score <= 0.10 for score in scores), scores


def _gradings(cache, times, split):
    task = load_task("vectorization")
    prepared = prepare(task, cache)
    saved = task.folder / "reference"
    verdicts = [
        asyncio.run(grade_saved(task, prepared, saved, split=split))
        for _ in range(times)
    ]
    return [verdict.score for verdict in verdicts]


def _burn():
    parent = os.getppid()
    while os.getppid() == parent:
        pass
