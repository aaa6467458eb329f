"""`mlab report --paper` prints the paper's tables 3 and 4 from the fixture."""

import csv
import json
import re

import pytest
from tests.paper.fixture import AVERAGE, NEVER_RUN, published, write_paper_experiment
from tests.support.command_line import run

RATES, GAINS = published("success_rate"), published("improvement")
COLUMNS = list(RATES[AVERAGE])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_paper_experiment(tmp_path_factory.mktemp("paper") / "paper")


@pytest.fixture(scope="module")
def reported(folder):
    """Report once; return the output, the LaTeX file and the rows of the CSV file."""
    latex, table = folder / "paper.tex", folder / "paper.csv"
    done = run("report", folder, "--paper", "--latex", latex, "--csv", table)
    assert done.code == 0, done.err
    assert not (folder / "report.html").exists()
    return (
        done.out,
        latex.read_text(),
        list(csv.DictReader(table.read_text().splitlines())),
    )


def printed(out, title):
    """Return a table of the output by task and column: the first word of each cell."""
    lines = out[out.index(title) :].split("\n\n")[0].splitlines()[1:]
    header, *rows = (line.split("\t") for line in lines)
    assert header == ["task", *COLUMNS]
    return {
        row[0]: dict(zip(COLUMNS, [one.split()[0] for one in row[1:]], strict=True))
        for row in rows
    }


@pytest.mark.parametrize(("title", "table"), [("Table 3", RATES), ("Table 4", GAINS)])
def test_every_published_number_is_printed(reported, title, table):
    assert printed(reported[0], title) == table


@pytest.mark.parametrize(("place", "table"), [(0, RATES), (1, GAINS)])
def test_latex_has_every_published_number_in_the_papers_order(reported, place, table):
    part = reported[1].split("\\begin{table}")[1 + place]
    cells = [line.removesuffix(" \\\\").split(" & ") for line in part.splitlines()]
    rows = [[re.sub(r"\$\^.*|[${}]", "", one) for one in row] for row in cells]
    assert [row for row in rows if len(row) > 1] == [
        ["Task", *COLUMNS],
        *([task, *numbers.values()] for task, numbers in table.items()),
    ]


def test_csv_has_every_published_number_as_a_fraction(reported):
    for row in reported[2]:
        task, column = row["task"], row["agent"]
        assert f"{100 * float(row['success_10_last']):.1f}" == RATES[task][column]
        assert f"{100 * float(row['improvement']):.1f}" == GAINS[task][column]


def test_json_has_the_averages_as_fractions(folder):
    (table,) = json.loads(run("report", folder, "--paper", "--json").out)["tables"]
    averages = [f"{100 * one['improvement']:.1f}" for one in table["averages"]]
    assert averages == list(GAINS[AVERAGE].values())


def test_cells_that_were_never_run_are_marked(reported):
    out = reported[0]
    marked = {
        (row.split("\t")[0], COLUMNS[place])
        for row in out[: out.index("Table 4")].splitlines()
        for place, cell in enumerate(row.split("\t")[1:])
        if cell == "0.0 a"
    }
    assert marked == NEVER_RUN
    assert "a: not run" in out
    assert reported[1].count("\\footnotesize $^{a}$ not run; ") == 2


def test_the_average_over_eight_tasks_is_explained(reported):
    out = " ".join(reported[0].split())
    assert "average of Baseline: over the 8 tasks" in out
    assert "success rate would be 6.4 %" in out
