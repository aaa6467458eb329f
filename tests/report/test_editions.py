import pytest

from mlagentbench.core.scorecard import BudgetPoint, RunSeconds, Starter
from mlagentbench.core.trace import Ending
from mlagentbench.report.averages import columns, spending
from mlagentbench.report.editions import budget_curves, editions

FAILED = {"success": False, "significant": False, "improvement": 0.0}


def spent(cards):
    return spending(columns(cards)[0], cards)


def paid(card, agent, cost, *, runs=4, wins=4, model="x/y"):
    return [
        card(
            agent=agent,
            model=model,
            seed=seed,
            cost_usd=cost,
            tokens={"input": round(cost * 1000), "output": 0},
            **({} if seed < wins else FAILED),
        )
        for seed in range(runs)
    ]


def test_a_mean_run_weighs_tasks_alike(card):
    often = [card(task="b", steps=4, seed=seed) for seed in (1, 2)]
    assert spent([card(task="a", steps=10), *often]).steps == 7


def test_tokens_count_cached_ones_and_tell_them_apart(card):
    tokens = {"input": 100, "output": 20, "cached": 30, "editor": {"input": 100}}
    found = spent([card(model="x/y", tokens=tokens)])
    assert (found.tokens, found.cached) == (150, 30)


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        ({"model": "none"}, 0.0),
        ({"model": "local/small", "tokens": {"input": 9}}, 0.0),
        ({"model": "x/y", "tokens": {"input": 9}}, None),
        ({"model": "x/y", "tokens": {"input": 9}, "cost_usd": 0.5}, 0.5),
        ({"model": "x/y", "cost_usd": 0.5, "unpriced": ("x/y",)}, None),
    ],
)
def test_a_price_nobody_knows_is_not_taken_for_nothing(card, changes, cost):
    assert spent([card(**changes)]).cost == cost


def test_time_that_nobody_accounts_for_is_other(card):
    seconds = RunSeconds(total=100, model=20, execute=50, harness=5)
    split = spent([card(seconds=seconds)]).seconds
    assert split.other == 25
    assert spent([card(seconds=RunSeconds(model=3))]).seconds.other == 0


def test_cpu_time_needs_every_run_and_calibration_any(card):
    new = card(cpu_seconds=30.0, calibration_seconds=2.0)
    assert (spent([new]).cpu, spent([new]).calibration) == (30.0, 2.0)
    both = spent([new, card(seed=1)])
    assert (both.cpu, both.calibration) == (None, 2.0)


def test_runs_that_do_not_count_are_not_averaged(card):
    assert spent([card(ending=Ending.BROKEN)]) is None


def test_the_front_holds_whom_nobody_beats_at_both(card):
    cards = [
        *paid(card, "cheap", 1.0, wins=1),
        *paid(card, "dear", 9.0, wins=4),
        *paid(card, "beaten", 9.5, wins=3),
        *paid(card, "wasteful", 2.0, wins=1),
    ]
    (part,) = editions(cards)
    front = {
        part.table.columns[p.place].agent: p.on_front for p in part.fronts[1].points
    }
    assert front == {"cheap": True, "wasteful": False, "dear": True, "beaten": False}
    assert part.on_fronts(part.table.columns[0]) == ["tokens", "cost"]
    assert part.on_fronts(part.table.columns[2]) == []
    (equal,) = editions([*paid(card, "a", 1.0), *paid(card, "b", 1.0)])
    assert [point.on_front for point in equal.fronts[1].points] == [True, True]


def test_who_has_no_price_is_named_and_not_drawn(card):
    cards = [*paid(card, "a", 1.0), card(agent="b", model="x/z", tokens={"input": 5})]
    (part,) = editions(cards)
    assert part.fronts[1].unknown == ("b / x/z",)
    assert len(part.fronts[0].points) == 2


def test_a_budget_is_shown_only_where_every_run_can_tell(card):
    point = BudgetPoint(steps=10, score=17000.0, success=True)
    later = BudgetPoint(steps=50, score=17000.0, success=True)
    cards = [
        card(steps=50, by_budget=(point, later)),
        card(seed=1, steps=20, by_budget=(point,)),
    ]
    (curve,) = budget_curves(cards, columns(cards))
    assert [at.steps for at in curve.points] == [10]
    assert curve.points[0].success.n == 2


def test_nothing_valid_by_then_counts_as_no_improvement(card):
    good = BudgetPoint(steps=10, score=0.9 * 21043.1)
    cards = [
        card(steps=20, by_budget=(good,)),
        card(seed=1, steps=20, by_budget=(BudgetPoint(steps=10, score=None),)),
    ]
    (curve,) = budget_curves(cards, columns(cards))
    assert curve.points[0].improvement.value == pytest.approx(0.05)


def test_a_budget_has_a_normalised_score_if_every_run_has_one(card):
    known = {"normalised": 0.5, "reference": Starter(mean=11043.1, sd=9.0, n=8)}
    points = BudgetPoint(steps=10, score=16043.1), BudgetPoint(steps=10, score=None)
    cards = [
        card(seed=seed, steps=20, by_budget=(point,), **known)
        for seed, point in enumerate(points)
    ]
    (curve,) = budget_curves(cards, columns(cards))
    assert curve.points[0].normalised.value == pytest.approx(0.25)
    assert curve.points[0].normalised.low == 0.0
    old = cards[0].model_copy(update={"normalised": None})
    (curve,) = budget_curves([old, cards[1]], columns(cards))
    assert curve.points[0].normalised is None


def test_agents_without_scored_steps_have_no_budget_curve(card):
    assert budget_curves([card()], columns([card()])) == ()


def test_a_budget_that_no_run_exceeds_is_not_smaller(card):
    ended = card(steps=10, by_budget=(BudgetPoint(steps=10, score=17000.0),))
    assert budget_curves([ended], columns([ended])) == ()


def test_an_absurd_score_at_a_budget_has_no_finite_average(card):
    wild = BudgetPoint(steps=10, score=-1.7e308)
    starter = Starter(mean=1.0, sd=0.1, n=8)
    cards = [
        card(seed=seed, steps=20, starter=starter, by_budget=(wild,)) for seed in (0, 1)
    ]
    (curve,) = budget_curves(cards, columns(cards))
    assert not curve.points[0].improvement.bounded
