"""The clock of a run: what counts, what stops the agent, what a replay answers."""

import asyncio
import sys
import time

import pytest
from tests.support import records

from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Ending, Spent, Trace
from mlagentbench.experiment.trace_file import RecordedRun
from mlagentbench.run.budget import BudgetMeter, RunOver, counted_seconds


def meter(*steps, calls=(), **budget):
    past = RecordedRun(Trace(run="r", steps=steps, calls=calls))
    return BudgetMeter(Budget(**budget), past)


def stopped(budget, agent):
    async def act():
        async with budget.limits(0.0):
            await agent()

    with pytest.raises(RunOver) as over:
        asyncio.run(act())
    return over.value


async def sleep():
    await asyncio.sleep(600)


def test_agents_own_time_counts_and_work_of_the_harness_does_not():
    async def act():
        budget = meter(minutes=60)
        async with budget.limits(0.0):
            with budget.paused():
                own = budget.agent_seconds
                time.sleep(0.1)
                assert budget.agent_seconds == own
            before = budget.remaining().seconds
            await asyncio.sleep(0.2)
            after = budget.remaining().seconds
            assert budget.take_answers() == (before, after)
            return before - after

    assert asyncio.run(act()) >= 0.19


def test_agent_that_waits_is_stopped_at_its_time_budget():
    over = stopped(meter(minutes=0.001), sleep)
    assert (over.ending, over.reason) == (Ending.OUT_OF_TIME, None)


def test_waiting_of_the_harness_is_stopped_only_by_the_wall_time_limit():
    budget = meter(minutes=0.001, wall_minutes=0.01)

    async def agent():
        with budget.paused():
            await asyncio.sleep(600)

    over = stopped(budget, agent)
    assert over.ending is Ending.OUT_OF_TIME
    assert over.reason == "wall-time limit of 0.01 minutes"


def test_wall_time_limit_is_twice_the_budget_plus_ten_minutes_by_default():
    assert Budget(minutes=60).longest_minutes == 130
    assert Budget(minutes=60, wall_minutes=5).longest_minutes == 5


def test_agent_that_does_not_return_after_its_final_answer_has_submitted(monkeypatch):
    monkeypatch.setattr(sys.modules[BudgetMeter.__module__], "_TO_REACT", 0.1)
    budget = meter(minutes=60)
    budget.submitted = True
    assert stopped(budget, sleep).ending is Ending.SUBMITTED


def test_reply_that_used_the_rest_of_the_time_can_still_be_acted_on():
    async def act():
        budget = meter(minutes=0.001)
        async with budget.limits(0.0):
            with budget.paused():
                budget.model_seconds = 60.0
            await asyncio.sleep(0.1)
            return budget.remaining().seconds

    assert asyncio.run(act()) == 0


def test_timeout_error_of_the_agent_is_its_own():
    async def act():
        async with meter().limits(0.0):
            raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        asyncio.run(act())


def test_replay_answers_as_the_run_did():
    call = records.model_call(request_sha="a", seconds_left=(50.0, 49.0))
    inside = records.model_call(request_sha="b", asked_by="action")
    step = records.step(
        1, calls=(call, inside), spent=Spent(steps=1, seconds=12), seconds_left=(48.5,)
    )
    budget = meter(step, records.step(2), minutes=1)
    past = budget._past
    assert [budget.remaining().seconds for _ in range(2)] == [50.0, 49.0]
    past.call("main", "a")
    assert budget.remaining().seconds == 48.5
    budget.start_step(past.step(step.action, {}).spent)
    # A trace of an earlier version has no answers.
    assert budget.remaining().seconds == 48.0
    assert budget.agent_seconds == 0.0
    past.step(step.action, {})
    time.sleep(0.01)
    assert budget.remaining().seconds < 48.0
    assert len(budget.take_answers()) == 1


def test_checks_are_free_for_20_seconds_of_a_run_together():
    assert counted_seconds(0, 12) == 0
    assert counted_seconds(12, 12) == 4
    assert counted_seconds(24, 12) == 12
