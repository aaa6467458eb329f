"""What `mlab run` prints when a run is over, in plain text."""

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.numbers import duration, percent, with_unit
from mlagentbench.report.plain import harmless, shortened
from mlagentbench.report.view import TaskFacts


def summary_lines(card: Scorecard, facts: TaskFacts) -> list[str]:
    """Sum up one run: starter, score, improvement, verdict, ending."""
    lines = [
        f"{card.run}",
        f"  starter      {_starter(card, facts)}",
        f"  score        {_score(card, facts)}",
        f"  improvement  {percent(card.improvement)}",
        f"  success      {verdict(card)}",
        f"  ending       {_ending(card)}",
    ]
    if card.sandbox.unsafe:
        lines.append("  unsafe       ran without isolation: compare with nothing")
    return [harmless(line).replace("\n", " ") for line in lines]


def verdict(card: Scorecard) -> str:
    """Say whether a run succeeded, and whether noise could have done it."""
    if not card.ending.counts:
        return "not counted"
    if not card.success:
        return "no"
    if card.significant:
        return "yes, beyond the starter's noise"
    return "yes, but within the starter's noise"


def _starter(card: Scorecard, facts: TaskFacts) -> str:
    if card.starter is None:
        return f"not measured: run `mlab measure {card.task}`"
    written = with_unit(card.starter.mean, facts.unit)
    return f"{written} ({card.metric}, {card.direction} is better)"


def _score(card: Scorecard, facts: TaskFacts) -> str:
    if card.score is not None:
        return with_unit(card.score, facts.unit)
    why = shortened(card.submission_error or "", lines=1, characters=200)
    return f"none: {why}" if why else "none"


def _ending(card: Scorecard) -> str:
    why = shortened(card.reason or "", lines=1, characters=200)
    steps = "1 step" if card.steps == 1 else f"{card.steps} steps"
    spent = f"{steps}, {duration(card.seconds.total)}"
    ending = card.ending.replace("_", " ")
    return f"{ending}: {why} ({spent})" if why else f"{ending} ({spent})"
