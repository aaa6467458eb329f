"""Score against cost; 100 is the starter, 50 the reference, lower is better."""

import pytest
from tests.support.records import step as plain_step

from mlagentbench.core.scorecard import BudgetPoint, Starter
from mlagentbench.core.trace import Measurement, Spent, Trace
from mlagentbench.report.averages import columns
from mlagentbench.report.costs import agent_costs, expected_best, tuning_baseline
from mlagentbench.report.data import ExperimentView

STARTER, REFERENCE = (Starter(mean=mean, sd=1.0, n=8) for mean in (100.0, 50.0))


@pytest.fixture
def run(card):
    """Make a run: validation and held-out score by step, and what a step costs."""

    def make(validation, held_out, final, *, seed=0, a_step=(10.0, 0, 0.0), **changes):
        one = card(
            seed=seed, score=final, starter=STARTER, reference=REFERENCE,
            normalised=0.0 if final is None else max(0.0, (100 - final) / 50),
            steps=len(validation), **changes,
        )  # fmt: skip
        seconds, tokens, cost = a_step
        steps = tuple(
            plain_step(
                number,
                run=one.run,
                validation=value
                if value is None
                else Measurement(metric="MAE", value=value),
                spent=Spent(
                    steps=number,
                    seconds=number * seconds,
                    tokens=number * tokens,
                    cost=number * cost,
                ),
            )
            for number, value in enumerate(validation, start=1)
        )
        graded = ((n, each) for n, each in enumerate(held_out, start=1))
        scores = tuple((n, each) for n, each in graded if each is not None)
        return one, Trace(run=one.run, steps=steps), scores

    return make


def costs_of(*runs):
    view = ExperimentView(
        title="t",
        created="",
        cards=tuple(card for card, _, _ in runs),
        traces=tuple(trace for _, trace, _ in runs),
        step_scores={card.run: scores for card, _, scores in runs if scores},
    )
    return agent_costs(view, view.cards, columns(view.cards))


def points(costs, unit="steps"):
    return [(at.spent, pytest.approx(at.score.value)) for at in costs.within[unit]]


def test_the_score_at_a_cost_is_that_of_the_best_step_by_validation(run):
    # Step 2 is better on held-out data, but validation prefers steps 1 and 3.
    (found,) = costs_of(run([80.0, 90.0, 70.0, 75.0], [90.0, 60.0, 85.0, 50.0], 85.0))
    assert points(found) == [(0, 0.0), (1, 0.2), (3, 0.3), (4, 0.3)]
    assert points(found, "seconds") == [(0, 0.0), (10, 0.2), (30, 0.3), (40, 0.3)]


def test_before_the_first_valid_submission_the_score_is_zero(run):
    (found,) = costs_of(run([80.0, 70.0], [None, 75.0], 75.0))
    assert points(found) == [(0, 0.0), (1, 0.0), (2, 0.5)]


def test_runs_are_averaged_at_equal_cost_and_keep_their_result(run):
    short = run([80.0], [75.0], 75.0)
    long = run([90.0, 80.0], [100.0, 50.0], 50.0, seed=1)
    (found,) = costs_of(short, long)
    assert points(found) == [(0, 0.0), (1, 0.25), (2, 0.75)]


def test_a_run_whose_steps_were_not_graded_is_counted_and_left_out(run):
    (found,) = costs_of(run([80.0], [75.0], 75.0), run([80.0, 70.0], [], 60.0, seed=1))
    assert points(found) == [(0, 0.0), (1, 0.5)]
    assert found.ungraded == 1


def test_without_validation_scores_no_step_can_be_chosen(run):
    assert costs_of(run([None, None], [80.0, 50.0], 50.0)) == ()


def test_a_run_that_never_had_a_valid_submission_is_zero_throughout(run):
    never = BudgetPoint(steps=2, score=None)
    (found,) = costs_of(run([None, None], [None, None], None, by_budget=(never,)))
    assert points(found) == [(0, 0.0), (2, 0.0)]


def test_the_scorecard_prices_what_the_steps_do_not(run):
    paid = {"model": "x/y", "cost_usd": 0.5}
    (found,) = costs_of(run([90.0, 80.0], [90.0, 75.0], 75.0, a_step=(1, 9, 0), **paid))
    assert points(found, "dollars") == [(0, 0.0), (0.25, 0.2), (0.5, 0.5)]


def test_an_unknown_price_draws_no_dollars(run):
    unpriced = {"model": "x/y", "unpriced": ("x/y",)}
    (found,) = costs_of(run([80.0], [75.0], 75.0, a_step=(1, 9, 0), **unpriced))
    assert set(found.within) == {"steps", "seconds", "tokens"}


def test_the_best_of_k_is_expected_over_all_sets_of_k():
    # Sets of 2 of (a, b, c): ab and ac give a, bc gives b.
    assert expected_best([3.0, 6.0, 0.0], 2) == pytest.approx((3 + 3 + 6) / 3)
    assert expected_best([3.0, 6.0, 0.0], 1) == pytest.approx(3.0)
    assert expected_best([3.0, 6.0, 0.0], 3) == 3.0


def test_the_best_of_k_is_chosen_by_validation_never_by_the_held_out_score(run):
    promising = run([70.0], [], 90.0, seed=0)
    better = run([80.0], [], 50.0, seed=1)
    (found,) = costs_of(promising, better)
    assert [(best.runs, best.score) for best in found.best_of] == [
        (1, pytest.approx(0.6)),
        (2, pytest.approx(0.2)),
    ]
    assert [best.spent["seconds"] for best in found.best_of] == [10.0, 20.0]


def test_a_run_without_a_submission_is_never_chosen_before_one_with(run):
    failed = run([None], [], None, seed=0)
    (found,) = costs_of(failed, run([80.0], [], 50.0, seed=1))
    assert found.best_of[1].score == pytest.approx(1.0)


def test_a_valid_run_that_nothing_ranks_allows_no_choice(run):
    assert costs_of(run([None], [], 60.0), run([80.0], [], 50.0, seed=1)) == ()


def test_older_runs_have_no_cost_curve(run):
    card, trace, scores = run([80.0], [75.0], 75.0)
    old = card.model_copy(update={"normalised": None})
    assert costs_of((old, trace, scores)) == ()


def test_the_tuning_baseline_is_drawn_only_if_every_task_has_one(card):
    known = {"starter": STARTER, "reference": REFERENCE, "normalised": 0.5}
    tuned = card(tuned=Starter(mean=80.0, sd=1.0, n=4), **known)
    assert tuning_baseline([tuned]) == pytest.approx(0.4)
    assert tuning_baseline([tuned, card(task="new", **known)]) is None
