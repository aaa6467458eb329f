"""Can a judge be relied on? Its agreement with itself and with the rules, over runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mlagentbench.core.finding import Opinion
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.krippendorff import alpha, alpha_over_runs
from mlagentbench.evaluation.opinions import (
    CRITERIA,
    agrees_with_rules,
    objections,
)
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.suite import suite_mean


class BesideRules(Record):
    """How often judge and rules object to the same thing."""

    both: int = 0
    only_judge: int = 0
    only_rules: int = 0
    neither: int = 0

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance (Cohen); None where chance explains everything."""
        n = self.both + self.only_judge + self.only_rules + self.neither
        judge, rules = self.both + self.only_judge, self.both + self.only_rules
        chance = judge * rules + (n - judge) * (n - rules)
        if chance == n * n:
            return None
        return (n * (self.both + self.neither) - chance) / (n * n - chance)


class Agreement(Record):
    """What is known of one judge from all the runs it judged."""

    runs: int
    votes: int
    unreadable: int
    alpha: Estimate | None
    """Krippendorff's, for ordered marks; None where no two marks differ."""
    alpha_by_criterion: dict[str, float | None]
    with_rules: Estimate | None
    """The share of criteria on which they say the same, averaged over the tasks."""
    kappa: float | None
    """The same beyond chance."""
    beside_rules: dict[str, BesideRules]
    """By criterion."""
    tokens: int
    cost_usd: float | None
    """None where the price of some vote is not known."""


def agreements(cards: Iterable[Scorecard]) -> dict[str, Agreement]:
    """Return how far each judge agrees with itself and with the rules."""
    by_judge: dict[str, list[tuple[Scorecard, Opinion]]] = {}
    for card in cards:
        if card.opinion is not None and card.ending.counts:
            by_judge.setdefault(card.opinion.model, []).append((card, card.opinion))
    return {judge: _agreement(given) for judge, given in by_judge.items()}


def added(costs: Sequence[float | None]) -> float | None:
    """Add up costs; a sum with one that is unknown is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _agreement(given: list[tuple[Scorecard, Opinion]]) -> Agreement:
    opinions = [opinion for _, opinion in given]
    beside = {name: _beside_rules(given, name) for name in CRITERIA}
    unreadable = sum(opinion.unreadable for opinion in opinions)
    return Agreement(
        runs=len(given),
        votes=unreadable + sum(map(_readable, opinions)),
        unreadable=unreadable,
        alpha=alpha_over_runs([list(_votes(one)) for one in opinions]),
        alpha_by_criterion={
            name: alpha(_votes_on(opinions, name)) for name in CRITERIA
        },
        with_rules=_with_rules(given),
        kappa=_all_of(beside.values()).kappa,
        beside_rules=beside,
        tokens=sum(opinion.tokens for opinion in opinions),
        cost_usd=added([opinion.cost_usd for opinion in opinions]),
    )


def _readable(opinion: Opinion) -> int:
    return max(map(len, _votes(opinion)), default=0)


def _votes(opinion: Opinion) -> Iterator[tuple[int, ...]]:
    return (mark.votes for mark in opinion.marks.values())


def _votes_on(opinions: Iterable[Opinion], name: str) -> list[tuple[int, ...]]:
    return [opinion.marks[name].votes for opinion in opinions if name in opinion.marks]


def _with_rules(given: list[tuple[Scorecard, Opinion]]) -> Estimate | None:
    by_task: dict[str, list[float]] = {}
    for card, opinion in given:
        share = agrees_with_rules(opinion.marks, card.process)
        if share is not None:
            by_task.setdefault(card.task, []).append(share)
    if not by_task:
        return None
    found = suite_mean(by_task)
    return found.model_copy(
        update={"low": max(0.0, found.low), "high": min(1.0, found.high)}
    )


def _beside_rules(given: list[tuple[Scorecard, Opinion]], name: str) -> BesideRules:
    seen = Counter(
        (judge, rules)
        for card, opinion in given
        for criterion, judge, rules in objections(opinion.marks, card.process)
        if criterion == name
    )
    return BesideRules(
        both=seen[True, True],
        only_judge=seen[True, False],
        only_rules=seen[False, True],
        neither=seen[False, False],
    )


def _all_of(parts: Iterable[BesideRules]) -> BesideRules:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.model_dump())
    return BesideRules(**total)
