"""Plain arithmetic on the fixture's cards gives back what the paper printed."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import pytest
from tests.paper.fixture import (
    AVERAGE,
    BASELINE,
    NEVER_RUN,
    cells,
    paper_cards,
    published,
)

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.success import SUCCESS_THRESHOLD, improvement

RATES, GAINS = published("success_rate"), published("improvement")
TASKS = [task for task in RATES if task != AVERAGE]
COLUMNS = list(RATES[AVERAGE])

Cells = dict[tuple[str, str], list[Scorecard]]


@pytest.fixture(scope="module")
def runs() -> Cells:
    found: Cells = defaultdict(list)
    for card in paper_cards():
        found[card.task, card.model].append(card)
    return dict(found)


def rate(cards: Sequence[Scorecard]) -> float:
    return 100 * fmean(card.success for card in cards)


def gain(cards: Sequence[Scorecard]) -> float:
    return 100 * fmean(c.improvement for c in cards if c.improvement is not None)


def test_there_are_thirteen_tasks_and_eight_columns():
    assert len(TASKS) == 13
    assert len(COLUMNS) == 8
    assert list(GAINS) == list(RATES)


def test_a_cell_has_eight_runs_but_for_two_of_the_baseline(runs):
    odd = {cell: len(cards) for cell, cards in runs.items() if len(cards) != 8}
    assert odd == {("identify-contrails", BASELINE): 5, ("CLRS", BASELINE): 7}


@pytest.mark.parametrize(("task", "column"), list(cells()))
def test_a_cell_prints_both_published_digits(runs, task, column):
    cards = runs[task, column]
    assert f"{rate(cards):.1f}" == RATES[task][column]
    assert f"{gain(cards):.1f}" == GAINS[task][column]


def test_cells_that_were_never_run_are_printed_as_zero(runs):
    assert not NEVER_RUN & runs.keys()
    assert {RATES[task][column] for task, column in NEVER_RUN} == {"0.0"}
    assert {GAINS[task][column] for task, column in NEVER_RUN} == {"0.0"}


def test_every_success_gained_more_than_the_bar_and_no_other_run_did(runs):
    for card in (card for cards in runs.values() for card in cards):
        assert card.success == ((card.improvement or 0.0) > SUCCESS_THRESHOLD)


def test_scores_improve_on_the_starter_by_what_the_card_says(runs):
    for card in (card for cards in runs.values() for card in cards):
        assert (card.score is None) == (card.improvement is None)
        if card.score is not None:
            gained = improvement(card.score, card.starter.mean, card.direction)
            assert gained == pytest.approx(card.improvement, abs=1e-12)
            assert card.score > -1e-12
