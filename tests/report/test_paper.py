"""The paper's rules of evaluation, on cases small enough to compute by hand."""

import pytest
from tests.support import records

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import Starter
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending
from mlagentbench.report.paper import PAPER_METRICS, THRESHOLDS, paper_tables
from mlagentbench.report.paper_text import paper_csv, paper_grids, paper_latex
from mlagentbench.tasks.load import paper_task_ids

THIRTEEN = list(PAPER_METRICS)


def card(task="cifar10", seed=0, score=None, **changes):
    """A run against a starter that scores 100."""
    values = {
        "direction": Direction.HIGHER, "metric": PAPER_METRICS.get(task, "f1"),
        "starter": Starter(mean=100.0, sd=1.0, n=9), "score": score, "steps": 3,
        "improvement": None if score is None else (score - 100) / 100,
        "model": "gpt", "ending": Ending.SUBMITTED,
    }  # fmt: skip
    return records.card(task, seed, **(values | changes))


def table_of(*cards, steps=None):
    (table,) = paper_tables(cards, steps or {})
    return table


def cells_of(*cards, steps=None):
    return [row.cells[0] for row in table_of(*cards, steps=steps).rows]


def test_the_tasks_of_the_tables_are_those_of_the_suite():
    assert sorted(THIRTEEN, key=str.casefold) == paper_task_ids()


def test_success_needs_strictly_more_than_each_threshold():
    assert THRESHOLDS == (0.05, 0.10, 0.15, 0.20, 0.30)
    (cell,) = cells_of(*(card(seed=n, score=s) for n, s in enumerate((110, 131, 90))))
    # 110 passes 5 %, 131 passes all, 90 none.
    assert cell.last == pytest.approx((2 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3))


def test_success_is_over_all_runs_and_improvement_over_valid_ones():
    (cell,) = cells_of(
        card(seed=0, score=140), card(seed=1), card(seed=2), card(seed=3)
    )
    assert (cell.runs, cell.valid) == (4, 1)
    assert cell.last == (0.25,) * 5
    assert cell.improvement == pytest.approx(0.4)


def test_success_at_any_step_takes_the_best_step_and_the_last_one():
    cards = [card(seed=0, score=90), card(seed=1), card(seed=2, score=112)]
    first, second, third = (one.run for one in cards)
    graded = {first: [(1, 118.0), (2, 104.0)], second: [(1, 131.0)], third: []}
    (cell,) = cells_of(*cards, steps=graded)
    assert cell.last == pytest.approx((1 / 3, 1 / 3, 0, 0, 0))
    assert cell.any_step == pytest.approx((1, 1, 2 / 3, 1 / 3, 1 / 3))


def test_lower_scores_are_better_where_the_task_says_so():
    lower = {"direction": Direction.LOWER, "improvement": -0.2}
    one = card("feedback", score=120, **lower)
    (cell,) = cells_of(one, steps={one.run: [(1, 84.0), (2, 120.0)]})
    assert cell.improvement == -0.2
    assert cell.last == (0,) * 5
    assert cell.any_step == (1, 1, 1, 0, 0)


def test_success_at_any_step_is_unknown_if_a_run_has_no_graded_steps():
    cards = [card(seed=0, score=140), card("imdb", score=140)]
    table = table_of(*cards, steps={cards[0].run: [(1, 140.0)]})
    assert [row.cells[0].any_step is None for row in table.rows] == [False, True]
    assert table.averages[0].any_step is None
    assert any("mlab score EXP --steps" in note for note in table.notes)
    last, any_step = paper_grids(table)[2].rows
    assert last == ("gpt", "last", *["100.0"] * 5)
    assert any_step == ("gpt", "any", *["-"] * 5)


def test_a_run_without_steps_has_nothing_to_grade():
    (cell,) = cells_of(card(steps=0))
    assert cell.any_step == (0,) * 5
    # The steps behind this score were made elsewhere and are not known.
    (cell,) = cells_of(card(score=140, steps=0))
    assert cell.any_step is None


def test_an_agent_valid_on_one_task_of_thirteen_has_a_thirteenth():
    table = table_of(
        card("house-price", score=200),
        *(card(task) for task in THIRTEEN[4:] + THIRTEEN[:3]),
    )
    (average,) = table.averages
    assert (average.tasks, average.runs, average.valid) == (13, 13, 1)
    assert f"{100 * average.improvement:.1f}" == "7.7"
    assert f"{100 * average.last[1]:.1f}" == "7.7"
    rows = {row[0]: row[1] for row in paper_grids(table)[1].rows}
    assert rows["house-price"] == "100.0"
    assert rows["imdb"] == "0.0 b"
    assert rows["Average"] == "7.7"
    assert any(note.startswith("b: no run has a valid") for note in table.notes)


def test_a_score_of_zero_is_no_submission_as_in_the_original():
    one = card(score=0.0)
    (cell,) = cells_of(one, card(seed=1, score=120), steps={one.run: [(1, 0.0)]})
    assert (cell.runs, cell.valid) == (2, 1)
    assert cell.improvement == pytest.approx(0.2)


def test_a_task_that_an_agent_was_not_run_on_is_in_no_average():
    cards = [card("cifar10", score=120), card("imdb", score=140),
             card("imdb", score=140, model="other")]  # fmt: skip
    table = table_of(*cards)
    assert [average.tasks for average in table.averages] == [2, 1]
    assert table.averages[1].improvement == pytest.approx(0.4)
    assert paper_grids(table)[1].rows[0] == ("cifar10", "20.0", "0.0 a")
    assert any("with 0 for the others" in note for note in table.notes)


def test_runs_that_do_not_count_and_other_tasks_are_left_out_and_named():
    table = table_of(
        card(score=120),
        card(seed=1, ending=Ending.PROVIDER_ERROR),
        card("imdb", ending=Ending.BROKEN),
        card("bibtex-generation", score=120),
        card("feedback", score=120, starter=None, improvement=None),
    )
    assert [row.name for row in table.rows] == ["cifar10"]
    assert table.rows[0].cells[0].runs == 1
    notes = "\n".join(table.notes)
    assert "runs that do not count (1 provider error, 1 broken)" in notes
    assert "not tasks of the paper: bibtex-generation" in notes
    assert "no usable score of the starter: feedback" in notes
    assert "tasks of the paper without runs: imdb, " in notes


def test_a_task_with_another_metric_than_the_papers_is_marked():
    changed = ("identify-contrails", "llama-inference", "vectorization", "imdb")
    table = table_of(*(card(task, score=120, metric="own") for task in changed))
    assert paper_grids(table)[0].rows[1] == ("identify-contrails c", "100.0")
    (note,) = [note for note in table.notes if note.startswith("c: ")]
    assert "identify-contrails (own, in the paper mean_dice), " in note
    written = paper_latex([table])
    assert "identify{-}contrails$^{c}$ & 100.0" in written
    assert written.count("vectorization (own, in the paper seconds)") == 2


def test_versions_of_a_task_have_rows_and_no_common_average():
    table = table_of(card(score=120), card(score=140, version=2))
    assert [row.name for row in table.rows] == ["cifar10@1/mini", "cifar10@2/mini"]
    assert table.averages == (None,)
    assert paper_grids(table)[1].rows[-1] == ("Average", "-")
    assert any("several versions" in note for note in table.notes)
    assert paper_csv([table]).splitlines()[-1] == f"mini,Average,gpt{',' * 14}"


def test_editions_have_tables_of_their_own():
    tables = paper_tables([card(score=120), card(score=140, edition="full")], {})
    assert [table.edition for table in tables] == ["mini", "full"]
    assert [table.averages[0].runs for table in tables] == [1, 1]


def test_several_agents_are_named_with_their_models():
    table = table_of(card(score=120), card(score=120, agent="other"))
    assert table.columns == ("a / gpt", "other / gpt")


def test_runs_of_other_tasks_only_are_an_error_with_the_way_out():
    with pytest.raises(UsageError, match="mlab run --suite paper"):
        paper_tables([card("bibtex-generation", score=120)], {})
