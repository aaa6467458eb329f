"""Tables and progress, on a terminal of any width and in a pipe."""

import json
import re

import pytest
from tests.support.records import step

from mlagentbench.cli.console import Screen, print_table
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Measurement
from mlagentbench.tasks.load import load_task, task_ids

LONG_ID = "literature-review-tool:research[actions=few]:openai/gpt-4o-mini:0"


def terminal(width):
    """Return the environment of a terminal, for rich."""
    return {"TTY_COMPATIBLE": "1", "COLUMNS": str(width)}


def plain(text):
    """Return a text without terminal escapes."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.mark.parametrize("width", [30, 80])
def test_ids_and_numbers_stay_complete_on_a_narrow_terminal(mlab, width):
    words = plain(mlab("tasks", **terminal(width)).out).split()
    assert set(task_ids()) <= set(words)
    assert {"26,480", "23,832"} <= set(words)


def test_the_list_of_tasks_fits_80_columns(mlab):
    lines = plain(mlab("tasks", **terminal(80)).out).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "also shows: MB, GB memory, minutes, environment" in lines[-1]
    wide = plain(mlab("tasks", **terminal(160)).out).splitlines()
    assert {"minutes", "environment", "metric"} <= set(wide[0].split())
    assert wide[-1].startswith("vectorization")


def test_a_chosen_column_is_wrapped(monkeypatch, capsys):
    for name, value in terminal(60).items():
        monkeypatch.setenv(name, value)
    print_table(
        ["step", "input", "run"], [["1", "many words " * 9, LONG_ID]], prose=["input"]
    )
    lines = capsys.readouterr().out.splitlines()
    assert LONG_ID in lines[1]
    assert len(lines) > 3


def test_piped_rows_are_lines_of_cells_between_tabs(capsys):
    print_table(["run", "text"], [[LONG_ID, "many words " * 20]])
    assert capsys.readouterr().out == f"run\ttext\n{LONG_ID}\t{'many words ' * 20}\n"


@pytest.mark.parametrize("width", [40, 200])
def test_progress_shows_the_whole_run_and_its_best_validation_score(
    monkeypatch, capsys, width
):
    for name, value in terminal(width).items():
        monkeypatch.setenv(name, value)
    run = RunId(task="house-price", agent="tuner", model="none", seed=0)
    with Screen() as screen:
        screen.run_started(run, load_task("house-price"))
        for number, value in enumerate((20_000.123, 18_000.5, 19_000), start=1):
            measured = Measurement(metric="mae", value=value)
            screen.step_taken(run, step(number, run=str(run), validation=measured))
    shown = " ".join(plain(capsys.readouterr().err).split())
    assert str(run) in shown
    assert shown.endswith("best validation mae 18,000 dollars")


def test_every_row_of_doctor_is_ok_warn_or_fail(mlab):
    said = mlab("doctor", "--json", OPENAI_API_KEY="", ANTHROPIC_API_KEY="x")
    rows = {row["name"]: row for row in json.loads(said.out)}
    assert {row["status"] for row in rows.values()} <= {"ok", "warn", "fail"}
    assert rows["API keys"]["status"] == "ok"
    assert rows["API keys"]["value"] == "set: ANTHROPIC_API_KEY"
    assert (said.code == 3) == any(row["ok"] is False for row in rows.values())
