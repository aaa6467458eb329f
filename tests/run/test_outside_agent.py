"""Outside agents in their own process, on a recorded run instead of a sandbox."""

import asyncio
import random
import time
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput
from tests.support import records

from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Ending, Trace
from mlagentbench.experiment.trace_file import RecordedRun
from mlagentbench.run.budget import BudgetMeter, RunOver
from mlagentbench.run.model_calls import ModelRequest
from mlagentbench.run.outside_agent import AgentCrash, run_outside
from mlagentbench.run.replay import EndOfRecord, ReplayContext

LISTED = records.step(1, action="List Files", input={"dir_path": "."})


def context_of(*steps, budget=None):
    past = RecordedRun(Trace(run="r", steps=steps))
    task = records.toy_task(budget=budget or Budget())
    return ReplayContext(
        task=task, problem="the problem", settings={"why": "no"}, protocol="text",
        rng=random.Random("seed"), past=past, until=99,
        budget=BudgetMeter(task.budget, past),
    )  # fmt: skip


def run(agent, *steps):
    asyncio.run(run_outside(agent, context_of(*steps)))


def asked(text, reply):
    request = ModelRequest(
        "main", [ChatMessageUser(content=text)], [], GenerateConfig()
    )
    output = ModelOutput.from_content("m", reply).model_dump(mode="json")
    return records.model_call(request_sha=request.sha, reply=output)


def read(number, name, *calls):
    given = {"file_name": name}
    return records.step(number, "seen", action="Read File", input=given, calls=calls)


def test_every_call_of_the_context_reaches_the_harness_and_returns(capfd):
    draw = random.Random("seed").random()
    rejected = {"action": "Invalid Reply", "input": {"reply": "not an action"}}
    final = {"action": "Final Answer", "input": {"final_answer": "the problem"}}
    run(
        "outsiders:everything",
        read(1, "train.py", asked(f"hello \ud83d {draw}", "train.py")),
        records.step(2, **rejected),
        records.step(3, **final),
    )
    assert "a line of the agent's own" in capfd.readouterr().err


def test_models_can_be_asked_at_once():
    calls = [asked(str(number), f"reply {number}") for number in range(3)]
    run("outsiders:at_once", read(1, "reply 0,reply 1,reply 2", *calls))


def test_end_of_the_run_reaches_the_caller_through_the_agent():
    with pytest.raises(EndOfRecord):
        run("hands:napper")


def test_crash_has_the_traceback_of_the_agents_own_code():
    with pytest.raises(AgentCrash, match=r"^ValueError: my bug$") as crash:
        run("outsiders:nested")
    lines = crash.value.traceback.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "outsiders.py" in lines[1]
    assert "in nested" in lines[1]
    assert lines[-1] == "ValueError: my bug"


@pytest.mark.parametrize(
    ("agent", "reason", "shown"),
    [
        ("exits", "SystemExit: 3", "sys.exit(3)"),
        ("dies", "its process ended with exit code 7", "the last line"),
        ("talker", "its process sent an invalid message", ""),
        ("shouter", "its process sent a message that is too long", ""),
    ],
)
def test_whatever_an_agent_does_to_its_process_is_a_crash(agent, reason, shown):
    with pytest.raises(AgentCrash) as crash:
        run(f"outsiders:{agent}")
    assert str(crash.value) == reason
    assert shown in crash.value.traceback


@pytest.mark.parametrize("agent", ["napper", "looper", "stubborn", "flooder", "asker"])
def test_agent_that_does_not_end_is_stopped_at_its_time_limit(agent):
    context = context_of(LISTED, budget=Budget(minutes=0.01))

    async def act():
        async with context.budget.limits(0.0):
            await run_outside(f"hands:{agent}", context)

    with pytest.raises(RunOver) as over:
        asyncio.run(asyncio.wait_for(act(), timeout=120))
    assert over.value.ending is Ending.OUT_OF_TIME
    assert context.past.last == LISTED
    assert not context.past.lasts


def test_nothing_of_the_agents_process_is_left():
    started = []

    class Watched(ReplayContext):
        async def act(self, action, *, said=None, **given):
            started.append(int(given["file_name"]))
            raise EndOfRecord

    context = context_of()
    context.__class__ = Watched
    with pytest.raises(EndOfRecord):
        asyncio.run(run_outside("outsiders:parent", context))
    deadline = time.monotonic() + 300
    while not is_gone(started[0]):  # A kill takes effect a moment later.
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_gone(pid):
    """Whether a process has ended; a killed one may not be reaped yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"
