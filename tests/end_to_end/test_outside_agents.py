"""Outside agents in whole runs: their time limit, their crash, their resumption."""

import json

import pytest
from tests.support.outcomes import copy_cut
from tests.support.quick_task import QUICK_TASK
from thinking import trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.pipeline import resume, run

ENDLESS = ("napper", "stubborn", "flooder", "asker")
CRASHES = """
async def solve(context):
    await context.act("List Files", dir_path=".")
    raise ValueError("<b>my bug</b> \\x1b[31m")
"""
WORKS = CRASHES.replace(
    "raise ValueError(", "await context.act('Final Answer', final_answer="
)


@pytest.mark.parametrize(
    "agent",
    ["looper", *(pytest.param(name, marks=pytest.mark.slow) for name in ENDLESS)],
)
def test_agent_that_does_not_end_is_out_of_time_and_graded(mlab, tmp_path, agent):
    words = ("run", QUICK_TASK, "--agent", f"hands:{agent}", "--max-minutes", "0.02")
    finished = mlab(*words, "--json")
    assert finished.code == 0, finished.err
    (card,) = json.loads(finished.out)["scorecards"]
    assert card["ending"] == "out_of_time"
    assert "missing" in card["submission_error"]
    trace = trace_of(Experiment(next((tmp_path / "runs").iterdir())))
    assert [step.action for step in trace.steps] == ["List Files"]
    assert trace.end.ending is Ending.OUT_OF_TIME
    assert trace.end.spent.seconds >= 0.02 * 60
    # Standard error shows the first megabyte of output.
    assert len(finished.err) < 2_000_000


def test_crash_shows_where_and_can_be_retried(mlab, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "crashing.py"
    module.write_text(CRASHES)
    done = mlab(
        "--debug", "run", QUICK_TASK, "--agent", "crashing:solve", "--out", "runs"
    )
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    experiment = Experiment(folder)
    end = trace_of(experiment).end
    assert end.reason == "ValueError: <b>my bug</b> \x1b[31m"
    assert f'File "{module}", line 4, in solve' in end.traceback
    for shown in (done.err, mlab("show", folder).out):
        assert f'File "{module}", line 4, in solve' in shown
        assert "\x1b" not in shown
    page = experiment.report.read_text()
    assert "line 4, in solve" in page
    assert "<b>my bug" not in page

    assert "nothing to resume" in mlab("resume", folder).out
    module.write_text(WORKS)
    unnamed = mlab("resume", folder, "--crashed")
    assert "add --agent crashing:solve" in unnamed.err
    agent = ("--agent", "crashing:solve")
    assert mlab("resume", folder, "--crashed", *agent).code == 0
    (card,) = experiment.scorecards
    assert (card.ending, card.attempt) == (Ending.SUBMITTED, 2)
    assert len(list((folder / "trace").glob("*.attempt1.jsonl"))) == 1
    assert "nothing to resume" in mlab("resume", folder, "--crashed").out


def test_resumed_agent_gets_the_remaining_time_that_it_got_before(tmp_path, cache):
    plan = Plan(
        tasks=(str(QUICK_TASK),), agent="hands:waiter", out=tmp_path, name="exp"
    )
    whole = run(plan, cache=cache)
    first, second = trace_of(whole).steps
    assert first.seconds.agent >= 0.5
    assert first.seconds_left == (float(first.input["why"]),)
    assert second.spent.seconds >= first.spent.seconds + 0.5
    cut = copy_cut(whole, tmp_path / "cut", 1)
    resume(cut, cache=cache)
    assert trace_of(cut).steps[0] == first
    assert trace_of(cut).end.ending is Ending.STOPPED
