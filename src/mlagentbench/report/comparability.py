"""What the numbers of a page may and may not be compared with, said in words."""

from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import Budget, DataKind
from mlagentbench.report.plain import shortened
from mlagentbench.report.view import ExperimentView

_NAMED_AT_MOST = 6


class Caution(Record):
    """One reason why some numbers cannot be put beside others."""

    title: str
    text: str


def cautions(view: ExperimentView) -> tuple[Caution, ...]:
    """Find every reason that this page's own runs give."""
    found = (
        _unsafe(view.cards),
        _original_runs(view.cards),
        _versions(view.cards),
        _budgets(view),
        _sandboxes(view.cards),
        _harnesses(view.cards),
        _unmeasured(view.cards),
        _other_data(view),
    )
    return tuple(caution for caution in found if caution)


def budget_text(budget: Budget) -> str:
    """Write what a run may spend."""
    parts = [f"{budget.steps} steps", f"{budget.minutes:g} min"]
    parts += [f"{budget.tokens:,} tokens"] if budget.tokens else []
    parts += [f"${budget.cost_usd:g}"] if budget.cost_usd else []
    return ", ".join(parts)


def _unsafe(cards: Sequence[Scorecard]) -> Caution | None:
    runs = [c.run for c in cards if c.sandbox.unsafe and not _is_original(c)]
    if not runs:
        return None
    return Caution(
        title="Runs without isolation",
        text=f"{_named(runs)}: the agent's code could read the labels. Compare these"
        " scores with nothing.",
    )


def _original_runs(cards: Sequence[Scorecard]) -> Caution | None:
    found = [card for card in cards if _is_original(card)]
    if not found:
        return None
    return Caution(
        title="Runs of the original benchmark",
        text=f"{_named([card.run for card in found])}: made by its own harness on its"
        " own data, and scored by its own graders where they are. How they were"
        " worked can be compared with ours; scores cannot.",
    )


def _is_original(card: Scorecard) -> bool:
    return "original" in (card.edition, card.sandbox.provider)


def _versions(cards: Sequence[Scorecard]) -> Caution | None:
    names: dict[str, set[str]] = {}
    for card in cards:
        names.setdefault(card.task, set()).add(card.score_name)
    mixed = [" and ".join(sorted(group)) for group in names.values() if len(group) > 1]
    if not mixed:
        return None
    return Caution(
        title="Several versions or editions of one task",
        text=f"{_named(mixed)}: data, grader or budget differ between them. Each has a"
        " row of its own, and no average is over both.",
    )


def _budgets(view: ExperimentView) -> Caution | None:
    several = [
        f"{name} ({' or '.join(dict.fromkeys(map(budget_text, budgets)))})"
        for name, budgets in view.budgets.items()
        if len(set(map(budget_text, budgets))) > 1
    ]
    if not several:
        return None
    return Caution(
        title="Different budgets",
        text=f"{_named(several)}: a run that may do more is expected to score more.",
    )


def _sandboxes(cards: Sequence[Scorecard]) -> Caution | None:
    limits = list(dict.fromkeys(card.sandbox.limits for card in cards))
    if len(limits) < 2:
        return None
    return Caution(
        title="Different limits",
        text=f"Runs had {_named(limits, ' or ')}: with more cores or memory more can be"
        " trained in the same time.",
    )


def _harnesses(cards: Sequence[Scorecard]) -> Caution | None:
    versions = list(dict.fromkeys(card.harness.version for card in cards))
    if len(versions) < 2:
        return None
    return Caution(
        title="Judged by different versions",
        text=f"mlagentbench {_named(versions, ' and ')}: `mlab score` judges all of"
        " them again with one.",
    )


def _unmeasured(cards: Sequence[Scorecard]) -> Caution | None:
    names = dict.fromkeys(
        card.score_name
        for card in cards
        if card.starter is None and not _is_original(card)
    )
    if not names:
        return None
    return Caution(
        title="A starter nobody measured",
        text=f"{_named(names)}: without its mean there is no improvement and no"
        " success. `mlab measure` measures it.",
    )


def _other_data(view: ExperimentView) -> Caution | None:
    shown = dict.fromkeys(card.score_name for card in view.cards)
    names = [
        facts.name
        for facts in view.tasks
        if facts.name in shown and facts.data not in (None, DataKind.REAL)
    ]
    if not names:
        return None
    return Caution(
        title="Not the data of the paper",
        text=f"{_named(names)}: substitutes or generated data. Their scores say nothing"
        " about published ones.",
    )


def _named(names: Iterable[str], between: str = ", ") -> str:
    listed = [shortened(name, lines=1, characters=120) for name in names]
    more = len(listed) - _NAMED_AT_MOST
    shown = between.join(listed[:_NAMED_AT_MOST])
    return f"{shown} and {more:,} more" if more > 0 else shown
