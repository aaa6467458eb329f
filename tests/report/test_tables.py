import pytest
from tests.paper.fixture import paper_cards

from mlagentbench.core.trace import Ending
from mlagentbench.report.averages import columns, place_of
from mlagentbench.report.number_format import tenths
from mlagentbench.report.tables import category, in_order, suite_tables


@pytest.fixture(scope="module")
def paper():
    (table,) = suite_tables(paper_cards())
    return table


def test_the_baselines_average_is_over_the_tasks_it_was_run_on(paper):
    baseline = paper.summaries[-1]
    assert (len(baseline.tasks), len(baseline.missing)) == (8, 5)
    assert tenths(baseline.success.here.value) == "10.4"
    assert tenths(baseline.with_missing_as_zero) == "6.4"


def test_tasks_are_grouped_as_in_the_paper(paper):
    sizes = [(row.name, len(row.tasks)) for row in paper.categories]
    assert sizes == [
        ("Canonical", 3),
        ("Classic Kaggle", 2),
        ("Kaggle challenges", 4),
        ("Recent research", 2),
        ("Code", 2),
    ]


def test_a_task_the_paper_does_not_know_keeps_its_own_group(card):
    assert category(card(task="new", category="Write a tool")) == "Write a tool"
    assert category(card(task="new")) == "Other"
    assert in_order(["Write a tool", "Code", "Canonical"]) == [
        "Canonical",
        "Code",
        "Write a tool",
    ]


def test_editions_are_never_in_one_table(card):
    tables = suite_tables([card(), card(edition="full"), card(edition="full", seed=1)])
    assert [table.edition for table in tables] == ["mini", "full"]
    assert tables[1].summaries[0].counted.runs == 2


def test_versions_have_rows_of_their_own(card):
    (table,) = suite_tables([card(version=1), card(version=2)])
    assert [row.name for row in table.rows] == [
        "house-price@1/mini",
        "house-price@2/mini",
    ]


def test_a_cell_tells_never_run_from_run_without_counting(card):
    broken = {"ending": Ending.BROKEN, "score": None, "improvement": None}
    cards = [card(task="a"), card(task="b", agent="x", success=False, **broken)]
    (table,) = suite_tables(cards)
    assert table.rows[0].cells[1] is None
    assert (table.rows[1].cells[1].runs, table.rows[1].cells[1].apart) == (0, 1)


def test_an_agent_keeps_its_colour_in_every_edition(card):
    tables = suite_tables([card(), card(agent="late", edition="full")])
    assert tables[1].columns[0].place == 1


def test_more_agents_than_colours_begin_again(card):
    cards = [card(agent=f"agent {n}") for n in range(10)]
    named = columns(cards)
    assert named[9].key == named[1].key == 1
    assert place_of(cards[9], named) == 9
