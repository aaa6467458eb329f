import math

import pytest

from mlagentbench.core.scorecard import Starter
from mlagentbench.core.task import Scale
from mlagentbench.core.trace import Measurement, Trace
from mlagentbench.report.noise import selection_note, untouched


def test_an_untouched_starter_gets_the_upper_half_of_its_noise(card):
    starter = Starter(mean=100.0, sd=4.0, n=8)
    one = card(starter=starter, reference=Starter(mean=60.0, sd=1.0, n=8))
    sd = 4.0 * math.sqrt(1 + 1 / 8) / 40.0
    assert untouched(one) == pytest.approx(sd / math.sqrt(2 * math.pi), rel=0.01)
    still = card(starter=Starter(mean=100.0, sd=0.0, n=8), reference=starter)
    assert untouched(still.model_copy(update={"reference": one.reference})) == 0.0


def test_the_untouched_score_is_on_the_tasks_scale(card):
    timed = {
        "starter": Starter(mean=1.0, sd=0.2, n=8),
        "reference": Starter(mean=0.1, sd=0.01, n=8),
    }
    linear, log = (untouched(card(scale=s, **timed)) for s in (Scale.LINEAR, Scale.LOG))
    assert linear == pytest.approx(0.2 * math.sqrt(9 / 8) / 0.9 / 2.5066, rel=0.01)
    assert 0.3 * linear < log < 0.6 * linear


def test_without_a_reference_nothing_is_known_of_the_untouched_starter(card):
    assert untouched(card()) is None


def note(card, step, *, queries, interval):
    one = card(validation_queries=queries)
    low, high = interval
    measured = Measurement(metric="MAE", value=20000.0, low=low, high=high)
    trace = Trace(run=one.run, steps=(step(one.run, validation=measured),))
    return selection_note([one], {(one.run, 1): trace}, {one.score_name: "USD"})


def test_the_note_gives_the_inflation_in_the_units_of_the_score(card, step):
    assert note(card, step, queries=10, interval=(19020.0, 20980.0)) == (
        "The best of 10 measured validation scores is too good by up to 1.5 standard"
        " errors through selection alone (769 USD on house-price@1/mini)."
    )


def test_without_intervals_the_note_counts_standard_errors(card, step):
    assert note(card, step, queries=2, interval=(None, None)).endswith(
        "up to 0.6 standard errors through selection alone."
    )


def test_a_single_query_selects_nothing(card, step):
    assert note(card, step, queries=1, interval=(19020.0, 20980.0)) == ""
