from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import make_card

from mlagentbench.core.scorecard import FailureMode, ProcessCheck
from mlagentbench.core.trace import Ending
from mlagentbench.report.averages import columns
from mlagentbench.report.charts import median_line
from mlagentbench.report.editions import editions
from mlagentbench.report.findings import OUTCOMES, check_rows, outcomes
from mlagentbench.report.page import choices

RUN = st.fixed_dictionaries(
    {
        "ending": st.sampled_from(Ending),
        "success": st.booleans(),
        "failure": st.none() | st.sampled_from(FailureMode),
    }
)


@given(st.lists(RUN, min_size=1, max_size=12))
def test_every_run_that_counts_is_in_exactly_one_outcome(runs):
    cards = [make_card(seed=seed, **run) for seed, run in enumerate(runs)]
    found = outcomes(columns(cards)[0], cards)
    counted = [card for card in cards if card.ending.counts]
    assert sum(found.counts) == found.runs == len(counted)
    assert found.counts[0] == sum(card.success for card in counted)


def test_a_failure_without_a_reason_is_counted_as_such(card):
    cards = [card(success=False), card(seed=1, success=False, failure="bad plan")]
    found = outcomes(columns(cards)[0], cards)
    named = dict(zip(OUTCOMES, found.counts, strict=True))
    assert (named["bad plan"], named["no reason found"]) == (1, 1)


def test_where_nobody_looked_for_reasons_none_are_shown(card):
    (part,) = editions([card(success=False)])
    assert part.outcomes == ()


def test_a_checks_share_is_of_the_runs_it_examined(card):
    cards = [
        card(process={"loops": ProcessCheck(value=3), "claims": ProcessCheck()}),
        card(seed=1, process={"loops": ProcessCheck()}),
        card(seed=2),
        card(seed=3, ending=Ending.BROKEN, process={"loops": ProcessCheck(value=1)}),
        card(agent="other"),
    ]
    loops, claims = check_rows(cards, columns(cards))
    assert (loops.shares[0].value, loops.shares[0].n) == (0.5, 2)
    assert (claims.shares[0].value, claims.shares[0].n) == (0.0, 1)
    assert loops.shares[1] is None


def test_only_what_differs_can_be_chosen(card):
    found = choices([card(), card(task="b"), card(model="x/y")])
    assert found == {"task": ["house-price", "b"], "model": ["none", "x/y"]}


def test_a_median_line_follows_the_middle_run():
    lines = [[(1, value), (3, value + 10)] for value in (1.0, 2.0, 3.0, 9.0)]
    found = median_line(0, [*lines, []])
    assert (found.steps, found.values) == ((1, 3), (2.5, 12.5))
    assert median_line(0, lines[:3]) is None


def test_a_median_begins_where_most_runs_have_something():
    lines = [[(1, 5.0)], [(2, 1.0)], [(2, 1.0)], [(4, 1.0)]]
    assert median_line(0, lines).steps == (2, 4)
