"""Limits on a whole experiment: no new run starts, and `mlab resume` continues."""

import json
from pathlib import Path

import pytest
from tests.support.quick_task import QUICK_TASK

RUN = ["run", QUICK_TASK, "--agent", "thinker:thinker", "--model",
       "scripted/thinker:script", "--runs", "3"]  # fmt: skip
NAMED = ["--task-path", str(QUICK_TASK), "--agent", "thinker:thinker"]


@pytest.fixture
def prices(tmp_path):
    """A table by which one run of the thinker costs $3.60."""
    path = tmp_path / "prices.toml"
    path.write_text('["scripted/thinker:script"]\ninput = 1000\noutput = 0\n')
    return path


def endings(folder):
    lines = (Path(folder) / "scorecards.jsonl").read_text().splitlines()
    cards = sorted(map(json.loads, lines), key=lambda card: card["seed"])
    return [card["ending"] for card in cards]


@pytest.mark.slow
def test_after_a_total_cost_no_run_starts_until_it_is_resumed(mlab, prices):
    said = mlab(*RUN, "--prices", prices, "--max-total-cost", 2)
    assert said.code == 1
    (folder,) = Path("runs").iterdir()
    assert endings(folder) == ["submitted", "interrupted", "interrupted"]
    assert (
        "2 runs not started: the experiment has cost $3.60, and --max-total-cost is"
        f" $2.00; continue with `mlab resume {folder} {' '.join(NAMED)}`\n"
    ) in said.err
    # The cost of the first command counts, and running runs finish.
    mlab("resume", folder, *NAMED, "--max-total-cost", 7)
    assert endings(folder) == ["submitted", "submitted", "interrupted"]


def test_after_the_total_hours_no_run_starts(mlab):
    said = mlab(*RUN, "--max-total-hours", 1e-9)
    (folder,) = Path("runs").iterdir()
    assert endings(folder) == ["interrupted"] * 3
    assert "3 runs not started: the experiment has run for" in said.err


def test_a_total_cost_needs_prices(mlab, tmp_path):
    said = mlab("run", QUICK_TASK, "--agent", "react", "--model", "openai/x",
                "--max-total-cost", 2, OPENAI_API_KEY="x")  # fmt: skip
    assert said.code == 2
    assert "--max-total-cost needs a price for openai/x" in said.err
