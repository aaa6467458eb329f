"""What is known of a run in single lines: score, bar, time, tokens, sandbox."""

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.tallies import given_away
from mlagentbench.report.budgeting import fitted
from mlagentbench.report.numbers import dollars, duration, number, percent, with_unit
from mlagentbench.report.steps import Fact
from mlagentbench.report.text import verdict
from mlagentbench.report.view import TaskFacts

_KINDS = ("input", "output", "cached")


def run_facts(card: Scorecard, facts: TaskFacts, *, room: int) -> tuple[Fact, ...]:
    """Write what is known of a run; what is not is left out."""
    lines = _judged(card, facts) | _spent(card) | _circumstances(card)
    return tuple(
        Fact(label=label, text=fitted(text, room, lines=1))
        for label, text in lines.items()
        if text not in ("", "none")
    )


def _judged(card: Scorecard, facts: TaskFacts) -> dict[str, str]:
    return {
        "Belongs to": card.score_name,
        "Metric": f"{card.metric}, {card.direction} is better",
        "Success": verdict(card),
        "Score": with_unit(card.score, facts.unit),
        "Score interval": " to ".join(map(number, card.score_ci or ())),
        "Success bar": with_unit(facts.success_bar, facts.unit),
        "Reference": with_unit(facts.reference, facts.unit),
        "Gap closed": percent(card.gap_closed),
        "Best step": _best_step(card, facts),
        "Given away": percent(given_away(card) or None),
        "First success": _first_success(card),
        "Had it stopped earlier": _by_budget(card, facts),
        "Main reason": card.failure or "",
    }


def _spent(card: Scorecard) -> dict[str, str]:
    return {
        "Actions": _counted(card.actions),
        "Failures": _counted(card.errors),
        "Time": _time(card),
        "Tokens": _tokens(card),
        "Cost": dollars(card.cost_usd) if card.cost_usd else "",
    }


def _circumstances(card: Scorecard) -> dict[str, str]:
    return {
        "Attempt": str(card.attempt) if card.attempt > 1 else "",
        "Taken up again": f"{card.resumed} times" if card.resumed else "",
        "Sandbox": f"{card.sandbox.provider}, {card.sandbox.limits}",
        "Judged": f"{card.created} by mlagentbench {card.harness.version}",
    }


def _best_step(card: Scorecard, facts: TaskFacts) -> str:
    best = card.best_step
    return f"{with_unit(best.score, facts.unit)} at step {best.step}" if best else ""


def _first_success(card: Scorecard) -> str:
    first = card.first_success
    if first is None:
        return ""
    parts = [f"step {first.step}", duration(first.seconds)]
    parts += [f"{first.tokens:,} tokens"] if first.tokens else []
    parts += [dollars(first.cost_usd)] if first.cost_usd else []
    return ", ".join(parts)


def _by_budget(card: Scorecard, facts: TaskFacts) -> str:
    return "; ".join(
        f"{point.steps} steps: {with_unit(point.score, facts.unit)}"
        + (", success" if point.success else "")
        for point in card.by_budget
    )


def _time(card: Scorecard) -> str:
    spent = card.seconds
    parts = {"model": spent.model, "execute": spent.execute, "harness": spent.harness}
    split = ", ".join(f"{name} {duration(time)}" for name, time in parts.items())
    return f"{duration(spent.total)} ({split})"


def _tokens(card: Scorecard) -> str:
    counts = [(kind, card.tokens.get(kind)) for kind in _KINDS]
    known = [(kind, count) for kind, count in counts if isinstance(count, int)]
    if not any(count for _, count in known):
        return ""
    return ", ".join(f"{count:,} {kind}" for kind, count in known)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
