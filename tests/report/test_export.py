import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import RecordError
from mlagentbench.core.finding import Finding, ProcessCheck
from mlagentbench.core.scorecard import BudgetPoint, FirstSuccess
from mlagentbench.report.export.cells import cell, table_text
from mlagentbench.report.export.files import CSV, LATEX, write_tables
from mlagentbench.report.export.latex import improvement_latex, success_latex
from mlagentbench.report.export.run_lines import findings_csv, runs_csv
from mlagentbench.report.export.suite_lines import (
    AVERAGE,
    improvement_csv,
    success_csv,
)
from mlagentbench.report.export.tex import escaped

FORMULA = '=HYPERLINK("http://example.org","x")'


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n ab,\"'|%\uff1d\ud800\x00")))
def test_no_text_is_ever_a_formula_and_every_cell_comes_back_whole(text):
    ((_, back),) = csv.reader(
        io.StringIO(table_text(("a", "b"), [(1, text)]).partition("\n")[2])
    )
    assert back == cell(text)
    assert not back.lstrip().startswith(tuple("=+-@\t\r|%\uff1d"))
    back.encode()


def test_numbers_stay_numbers_and_nothing_stays_empty():
    assert table_text(("n",), [(-0.25,), (7,), (None,), (True,)]) == (
        'n\n-0.25\n7\n""\nyes\n'
    )


def test_a_hostile_column_name_is_no_formula_either():
    assert table_text((FORMULA,), []).startswith("\"'=HYPERLINK")


def test_the_success_table_holds_every_cell_and_the_averages(experiment):
    rows = read(success_csv(experiment.cards))
    assert list(rows[0])[:5] == ["edition", "task", "category", "agent", "model"]
    tuner = [row for row in rows if row["agent"] == "tuner"]
    assert len(tuner) == 5
    counted = [
        card
        for card in experiment.cards
        if card.agent == "tuner" and card.ending.counts
    ]
    average = tuner[-1]
    assert average["task"] == AVERAGE
    assert int(average["runs"]) == len(counted)
    assert int(average["successes"]) == sum(card.success for card in counted)
    assert int(average["not_counted"]) == 3
    assert float(average["low"]) < float(average["rate"]) < float(average["high"])


def test_a_task_without_a_run_that_counts_has_no_rate(card):
    rows = read(success_csv([card(ending=Ending.BROKEN)]))
    assert (rows[0]["runs"], rows[0]["rate"], rows[0]["not_counted"]) == ("0", "", "1")
    assert rows[1]["rate"] == ""


def test_the_improvement_table_leads_with_all_runs(card):
    cards = [card(seed=0, improvement=0.2), card(seed=1, improvement=None, score=None)]
    first, average = read(improvement_csv(cards))
    assert float(first["improvement_all"]) == 0.1
    assert float(first["improvement_valid"]) == 0.2
    assert (first["runs"], first["valid"]) == ("2", "1")
    assert float(average["improvement_all"]) == 0.1
    assert average["improvement_valid_low"] == ""


def test_every_single_value_of_a_run_is_in_its_line(card):
    one = card(
        improvement=-0.25,
        score_ci=(1.0, 2.0),
        reason=FORMULA,
        first_success=FirstSuccess(step=4, seconds=9.5, tokens=10),
        by_budget=(BudgetPoint(steps=10, score=3.5, success=True),),
        actions={FORMULA: 2, "Write File": 1},
        tokens={"input": 5, "agent": {"output": 6}},
        process={"loops": ProcessCheck(value=2)},
    )
    two = card(seed=1, ending=Ending.BROKEN, starter=None)
    first, second = read(runs_csv([one, two]))
    assert first["improvement"] == "-0.25"
    assert first["score_ci"] == "1.0 2.0"
    assert first["reason"].startswith("'=")
    assert first["actions"].startswith("'=")
    assert first["first_success_step"] == "4"
    assert first["after_10_steps_score"] == "3.5"
    assert first["after_10_steps_success"] == "yes"
    assert first["tokens_agent_output"] == "6"
    assert first["found_loops"] == "2"
    assert first["score_name"] == "house-price@1/mini"
    assert second["counts"] == "no"
    assert second["starter_mean"] == second["found_loops"] == ""


def test_every_finding_has_a_line_with_its_quote(card):
    evidence = (
        Finding(steps=(1, 2), quote=FORMULA, why="why\nso"),
        Finding(steps=(), quote="q", why="w"),
    )
    process = {
        "loops": ProcessCheck(value=5, evidence=evidence),
        "bare": ProcessCheck(value=1),
        "clean": ProcessCheck(),
    }
    rows = read(findings_csv([card(process=process)]))
    assert [(row["check"], row["times"], row["steps"]) for row in rows] == [
        ("loops", "5", "1 2"),
        ("loops", "5", ""),
        ("bare", "1", ""),
    ]
    assert rows[0]["quote"].startswith("'=")
    assert rows[0]["why"] == "why\nso"


@given(st.text())
def test_escaped_text_holds_no_command_of_its_own(text):
    rest = re.sub(
        r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar"
        r"|textquotedbl|textquotesingle|textasciigrave)\{\}|\\[{}$&#_%]|\{-\}",
        "",
        escaped(text),
    )
    assert not re.search(r"[\\{}$&#_%^~<>|\"'`-]", rest)
    assert rest.isascii()


def test_the_latex_tables_bound_their_averages(experiment):
    for text in (success_latex(experiment.cards), improvement_latex(experiment.cards)):
        lines = text.splitlines()
        assert "\\begin{tabular}{lrrr}" in lines
        assert lines.count("\\midrule") == 2
        (interval,) = [line for line in lines if line.startswith("95\\,\\%")]
        assert interval.count("[") == 3
        bodies = [line for line in lines if line.endswith("\\\\")]
        assert {line.count("&") for line in bodies} == {3}


def test_a_hostile_agent_cannot_write_into_the_table(card):
    text = success_latex([card(agent="\\input{/etc/passwd} & $x$ %")])
    assert "\\textbackslash{}input\\{/etc/passwd\\} \\& \\$x\\$ \\%" in text
    assert "\\input" not in text


def test_a_task_nobody_ran_and_a_loss_are_written_plainly(card):
    cards = [card(improvement=-0.051), card(task="imdb", agent="b", starter=None)]
    text = improvement_latex(cards)
    assert "house{-}price@1/mini & $-5.1$ & -- \\\\" in text
    assert "imdb@1/mini & -- & -- \\\\" in text


def test_an_average_over_fewer_tasks_than_others_says_so(card):
    text = success_latex([card(), card(task="imdb"), card(agent="b")])
    assert "Tasks averaged & 2 of 2 & 1 of 2 \\\\" in text
    assert "Tasks averaged" not in success_latex([card()])


def test_an_edition_has_a_table_of_its_own(card):
    text = success_latex([card(), card(edition="full")])
    assert text.count("\\begin{tabular}") == 2


def test_the_files_are_written_whole_into_a_new_folder(experiment, tmp_path):
    folder = tmp_path / "a" / "b"
    paths = write_tables(experiment.cards, folder, {**CSV, **LATEX})
    assert {path.name for path in paths} == {
        *("success.csv", "improvement.csv", "runs.csv", "findings.csv"),
        *("success.tex", "improvement.tex"),
    }
    assert {path.name for path in folder.iterdir()} == {path.name for path in paths}


def test_a_folder_that_cannot_be_written_is_named(experiment, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written: "):
        write_tables(experiment.cards, tmp_path / "file", CSV)


def test_no_run_at_all_still_gives_tables(tmp_path):
    assert len(write_tables((), tmp_path, {**CSV, **LATEX})) == 6
