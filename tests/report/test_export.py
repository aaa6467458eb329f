import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import (
    BudgetPoint,
    FirstSuccess,
    ProcessCheck,
    Starter,
)
from mlagentbench.core.trace import Ending
from mlagentbench.report.export import (
    cell,
    escaped,
    headline_latex,
    runs_csv,
    table_text,
    write_table,
)

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


def test_the_headline_table_bounds_its_averages(experiment):
    lines = headline_latex(experiment.cards).splitlines()
    rows = lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]
    assert rows[0].startswith("research / ")
    assert len(rows) == 3
    for row in rows:
        assert row.endswith(" \\\\")
        assert (row.count("&"), row.count("[")) == (4, 2)


def test_the_normalised_score_is_the_first_column_of_the_headline_table(card):
    cards = [card(seed=n, normalised=0.5 + 0.1 * n) for n in (0, 1)]
    lines = headline_latex([*cards, card(agent="old")]).splitlines()
    assert "% Runs without a normalised score: 1." in lines
    assert "Agent & Normalised & Success & Improvement & Runs & Tasks \\\\" in lines
    assert "\\begin{tabular}{lrrrrr}" in lines
    first, second = lines[lines.index("\\midrule") + 1 :][:2]
    assert first.startswith("tuner & 0.55 [0.00, 1.19] & 100.0 [")
    assert second.startswith("old & -- & 100.0 [")


def test_the_baselines_of_newer_runs_are_in_the_csv(card):
    new = card(
        normalised=0.5, level="bronze", reference=Starter(mean=1.5, sd=0.1, n=8),
        validation_queries=3, cpu_seconds=4.5, calibration_seconds=2.5,
        improvement_ci=(0.1, 0.2),
    )  # fmt: skip
    first, second = read(runs_csv([new, card(seed=1)]))
    names = ("normalised", "level", "reference_mean", "validation_queries")
    assert [first[name] for name in names] == ["0.5", "bronze", "1.5", "3"]
    assert (first["cpu_seconds"], first["calibration_seconds"]) == ("4.5", "2.5")
    assert first["improvement_ci"] == "0.1 0.2"
    assert second["normalised"] == second["reference_mean"] == ""
    assert not {"reference", "tuned"} & set(first)


def test_a_hostile_agent_cannot_write_into_the_table(card):
    text = headline_latex([card(agent="\\input{/etc/passwd} & $x$ %")])
    assert "\\textbackslash{}input\\{/etc/passwd\\} \\& \\$x\\$ \\%" in text
    assert "\\input" not in text


def test_a_loss_and_an_unmeasured_starter_are_written_plainly(card):
    cards = [card(improvement=-0.051), card(task="imdb", agent="b", starter=None)]
    unmeasured, lost = [
        line for line in headline_latex(cards).splitlines() if "/1 &" in line
    ]
    assert "& $-5.1$ &" in lost
    assert "& -- &" in unmeasured


def test_an_average_names_how_many_tasks_it_covers(card):
    text = headline_latex([card(), card(task="imdb"), card(agent="b")])
    assert "& 2/2 & 2 of 2 \\\\" in text
    assert "& 1/1 & 1 of 2 \\\\" in text


def test_an_edition_has_a_table_of_its_own(card):
    text = headline_latex([card(), card(edition="full")])
    assert text.count("\\begin{tabular}") == 2


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(RecordError, match=r"a\.csv cannot be written: No such file"):
        write_table(tmp_path / "missing" / "a.csv", "")


def test_no_run_at_all_still_gives_tables():
    assert runs_csv(()) == "\n"
    assert headline_latex(()).startswith("% Needs")
