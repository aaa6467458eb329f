"""A task whose submission is timed code, through the real pipeline."""

import asyncio
import math
import multiprocessing
import os
import re

import pytest
from tests.support.code_task import quick_code_task

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import Plan
from mlagentbench.grading.submission import grade_saved
from mlagentbench.run.pipeline import run
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task
from mlagentbench.tasks.suite.vectorization.metric import unpack_cases


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return quick_code_task(tmp_path_factory.mktemp("task") / "quick")


@pytest.fixture
def run_agent(folder, tmp_path, cache):
    """Run one agent and return its scorecard and its steps."""

    def go(agent):
        plan = Plan(tasks=(str(folder),), agent=agent, out=tmp_path, name="exp")
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


@pytest.mark.slow
def test_the_reference_is_faster_than_the_starter(run_agent):
    card, steps = run_agent("reference")
    assert card.ending is Ending.SUBMITTED
    assert card.score < 0.5
    low, high = card.score_ci
    assert low <= card.score <= high
    executed = next(step for step in steps if step.action == "Execute Script")
    assert executed.validation.metric == "relative_time"
    assert executed.validation.value < 0.5


@pytest.mark.slow
def test_code_is_measured_when_it_changed_and_only_then(run_agent):
    card, steps = run_agent("coders:repeater")
    first, again, other = [s for s in steps if s.action == "Execute Script"]
    assert first.validation is not None
    assert again.validation is None
    assert other.validation.value < first.validation.value / 2
    assert card.score < 0.5


def test_the_agent_learns_nothing_of_hidden_inputs(run_agent, folder, cache):
    card, steps = run_agent("coders:telltale")
    prepared = prepare_task(load_task(folder), cache)
    visible = prepared.public / "data" / "inputs" / "input0.arrays"
    first = next(unpack_cases(visible.read_bytes()))
    told = re.search(r"seen (-?[\d.e-]+)", steps[1].observation)
    assert math.isclose(float(told[1]), float(first.images.sum()), rel_tol=1e-6)
    assert card.score is None
    assert card.submission_error == "layer.py: it ended with exit code 1"


@pytest.mark.slow
def test_the_reference_is_faster_while_a_core_is_busy(folder, cache, busy_core):
    # benchmarks/timed_grading.py compares the scores of twenty gradings.
    task = load_task(folder)
    prepared = prepare_task(task, cache)
    verdict = asyncio.run(grade_saved(task, prepared, task.folder / "reference"))
    assert verdict.score < 0.5


def _burn():
    parent = os.getppid()
    while os.getppid() == parent:
        pass
