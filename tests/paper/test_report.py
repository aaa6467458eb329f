"""`mlab report` and `mlab compare` on the paper's runs say what the paper printed."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.paper.fixture import (
    AVERAGE,
    BASELINE,
    NEVER_RUN,
    cells,
    published,
    write_paper_experiment,
)
from tests.support.command_line import run

RATES, GAINS = published("success_rate"), published("improvement")
COLUMNS = list(RATES[AVERAGE])
OF_VALID_RUNS = re.compile(r"valid ([+-][0-9.]+) %")
BOUNDS = r"([+-]?[0-9.]+) to ([+-]?[0-9.]+)"

Grid = dict[str, list[str]]
"""By the first cell of a row: the text of the others."""


class Tables(HTMLParser):
    """Collects the text of every table's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._open = 0

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")
            self._open += 1

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._open:
            self._open -= 1

    def handle_data(self, data):
        if self._open:
            text = f"{self.tables[-1][-1][-1]} {data}"
            self.tables[-1][-1][-1] = " ".join(text.split())


def mlab(*words: object) -> str:
    done = run(*words)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> Path:
    return write_paper_experiment(tmp_path_factory.mktemp("paper") / "paper")


@pytest.fixture(scope="module")
def page(paper) -> str:
    mlab("report", paper)
    return (paper / "report.html").read_text()


@pytest.fixture(scope="module")
def grids(page) -> list[Grid]:
    """The tables of tasks against agents: success, then improvement."""
    parser = Tables()
    parser.feed(page)
    header = ["Task", *(f"original / {name}" for name in COLUMNS)]
    found = [table for table in parser.tables if table and table[0] == header]
    return [{row[0]: row[1:] for row in table[1:]} for table in found]


def row(grid: Grid, start: str) -> list[str]:
    (name,) = [name for name in grid if name.startswith(start)]
    return grid[name]


def test_there_is_one_table_of_success_and_one_of_improvement(grids):
    assert len(grids) == 2


@pytest.mark.parametrize(("task", "column"), list(cells()))
def test_a_cell_of_the_report_shows_both_published_digits(grids, task, column):
    place = COLUMNS.index(column)
    success, improvement = (row(grid, f"{task} @1")[place] for grid in grids)
    assert success.split()[0] == RATES[task][column]
    assert float(OF_VALID_RUNS.search(improvement)[1]) == float(GAINS[task][column])


def test_cells_that_were_never_run_are_not_shown_as_zero(grids):
    for task, column in NEVER_RUN:
        shown = [row(grid, f"{task} @1")[COLUMNS.index(column)] for grid in grids]
        assert shown == ["not run", "not run"]


@pytest.mark.parametrize("column", COLUMNS)
def test_the_average_success_is_the_published_one_with_its_interval(grids, column):
    shown = row(grids[0], "Average")[COLUMNS.index(column)]
    average = float(RATES[AVERAGE][column])
    assert shown.split()[0] == RATES[AVERAGE][column]
    low, high = map(float, re.search(BOUNDS, shown).groups())
    assert low < average < high
    tasks = "8 of 13 tasks" if column == BASELINE else "13 of 13 tasks"
    assert tasks in shown


@pytest.mark.parametrize("column", COLUMNS)
def test_the_average_improvement_of_valid_runs_is_the_published_one(grids, column):
    shown = row(grids[1], "Average, valid only")[COLUMNS.index(column)]
    assert float(shown.split()[0]) == float(GAINS[AVERAGE][column])
    assert re.search(BOUNDS, shown)


def test_the_report_says_over_which_tasks_the_baselines_average_is(page):
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "its average is over the 8 tasks" in text
    assert "it would be 6.4 %" in text


def test_the_report_says_with_what_these_scores_cannot_be_compared(page):
    assert "Runs of the original benchmark" in page


@pytest.fixture(scope="module")
def pair(paper) -> dict:
    sides = (f"{paper}:Claude v3 Opus", f"{paper}:GPT-4-turbo")
    return json.loads(mlab("compare", *sides, "--json"))["pairs"][0]


def test_eight_runs_do_not_separate_the_best_two(pair):
    verdict = pair["in_words"]["verdict"]
    assert verdict.startswith("8 runs do not separate them at 5 % over tasks")


def test_the_better_of_the_two_is_ahead_by_11_5_points(pair):
    said = " ".join(pair["in_words"]["measures"])
    assert "A 37.5 %" in said
    assert "B 26.0 %" in said
    assert "difference +11.5 points" in said


def test_the_best_and_the_worst_are_separated(paper):
    sides = (f"{paper}:Claude v3 Opus", f"{paper}:Mixtral")
    verdict = json.loads(mlab("compare", *sides, "--json"))["pairs"][0]["in_words"]
    assert "do not separate" not in verdict["verdict"]
