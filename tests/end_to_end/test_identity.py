"""Agents of one name with different code, and task folders changed after measuring."""

import csv
import json
import shutil
import sys

import pytest
from tests.support.quick_task import QUICK_TASK

STARTER = """
async def solve(context):
    await context.act("Execute Script", script_name=context.task.script)
    await context.act("Final Answer", final_answer="done")
"""
QUITTER = """
async def solve(context):
    await context.act("List Files", dir_path=".")
"""


@pytest.fixture
def quick(tmp_path):
    """A copy of a measured task, which a test may change."""
    return shutil.copytree(QUICK_TASK, tmp_path / "task")


@pytest.fixture
def run_agent(mlab, quick, monkeypatch, tmp_path):
    """Run the `agent.py` of a user's own folder; return the experiment's folder."""

    def run(user, code, *options):
        folder = tmp_path / user
        folder.mkdir(exist_ok=True)
        (folder / "agent.py").write_text(code)
        with monkeypatch.context() as patch:
            # Every command of a user is a new process, which has imported nothing.
            patch.delitem(sys.modules, "agent", raising=False)
            patch.syspath_prepend(folder)
            words = ("run", quick, "--agent", "agent:solve", "--out", folder / "runs")
            done = mlab(*words, "--json", *options)
        sys.modules.pop("agent", None)
        assert done.code == 0, done.err
        return tmp_path / json.loads(done.out)["experiment"]

    return run


def cards_of(folder):
    lines = (folder / "scorecards.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_two_users_agents_of_one_name_are_two_agents(mlab, run_agent, quick, tmp_path):
    ann, ben = run_agent("ann", STARTER), run_agent("ben", QUITTER)
    (one,), (two,) = cards_of(ann), cards_of(ben)
    assert one["run"] == two["run"] == "quick:agent:solve:none:0"
    for folder, card in ((ann, one), (ben, two)):
        spec = json.loads((folder / "experiment.json").read_text())
        assert spec["agent_digest"] == card["agent_digest"]
        assert len(card["agent_digest"]) == 64
    names = [f"agent:solve ({card['agent_digest'][:8]})" for card in (one, two)]
    assert names[0] != names[1]

    table, page = tmp_path / "runs.csv", tmp_path / "page.html"
    said = mlab("report", ann, ben, "--csv", table, "--out", page)
    assert said.code == 0, said.err
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["agent"] for row in rows] == names
    assert [row["run"] for row in rows] == [one["run"]] * 2
    assert [row["experiment"] for row in rows] == [ann.name, ben.name]
    assert all(f">{name}</td>" in page.read_text() for name in names)

    said = mlab("compare", f"{ann}:agent:solve", ben)
    assert said.out.startswith(f"A: {names[0]}\nB: {names[1]}\n"), said.err
    assert "quick@1/mini\t1, 1\t" in said.out

    assert mlab("score", ben, "--task-path", quick).code == 0
    assert cards_of(ben)[0]["agent_digest"] == two["agent_digest"]


def test_the_user_chooses_the_name_of_an_agent(mlab, run_agent):
    folder = run_agent("ann", QUITTER, "--name", "ann 2")
    (card,) = cards_of(folder)
    assert card["run"] == "quick:ann 2:none:0"
    assert card["agent_digest"]
    spec = json.loads((folder / "experiment.json").read_text())
    assert (spec["agent"], spec["agent_name"]) == ("agent:solve", "ann 2")
    assert folder.name.endswith("-ann-2")
    assert "quick:ann 2:none:0" in mlab("show", folder).out


@pytest.mark.slow
def test_a_folder_changed_after_measuring_gives_no_success(mlab, quick, tmp_path):
    assert mlab("run", quick, "--agent", "starter", "--out", "before").code == 0
    (before,) = (tmp_path / "before").iterdir()
    (good,) = cards_of(before)
    assert good["baseline_error"] is None
    metric = quick / "metric.py"
    # The same submission now has half the error, and the old baseline is stale.
    metric.write_text(metric.read_text().replace("/ len(misses)", "/ len(misses) / 2"))

    done = mlab("run", quick, "--agent", "starter", "--out", "after")
    assert done.code == 0
    (after,) = (tmp_path / "after").iterdir()
    stale = "the task folder changed after its starter was measured"
    warned = " ".join(done.err.split())
    assert warned.count(stale) == 2, "before the run and after it"
    assert f"success      unknown: {stale}" in done.out
    assert "yes" not in done.out
    (card,) = cards_of(after)
    assert card["score"] == pytest.approx(good["score"] / 2)
    assert card["task_digest"] != good["task_digest"]
    for field in ("improvement", "gap_closed", "failure", "first_success"):
        assert card[field] is None
    assert not card["success"]
    assert not card["significant"]

    # A run is never graded by another folder than its own.
    named = ("--task-path", quick)
    assert "has another digest" in mlab("score", before, *named).err
    assert cards_of(before) == [good]
    done = mlab("score", after, *named)
    assert done.out.count("success      unknown: ") == 1

    table = tmp_path / "runs.csv"
    done = mlab("report", after, "--csv", table, *named)
    assert stale in " ".join(done.err.split())
    (row,) = csv.DictReader(table.read_text().splitlines())
    assert (row["success"], row["counts"]) == ("no", "no")
    page = (after / "report.html").read_text()
    assert "A stale baseline" in page
    assert '<span class="tag yes">yes</span>' not in page

    done = mlab("compare", before, after)
    assert "Nothing can be compared" in done.out
    assert "B: runs that do not count: 1 stale baseline" in done.out
    assert stale in " ".join(done.err.split())

    # A new measurement makes new runs comparable again, and repairs a run's score.
    assert mlab("measure", quick, "--runs", "2").code == 0
    assert mlab("score", after, *named).code == 0
    (card,) = cards_of(after)
    assert card["baseline_error"] is None
    assert card["improvement"] == pytest.approx(0, abs=0.1)
