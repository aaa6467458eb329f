"""What is said of the judges that were asked, beside the runs they judged."""

import json
from typing import Any

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.agreement import Agreement, agreements
from mlagentbench.evaluation.statistics.estimate import Estimate


def judge_lines(cards: list[Scorecard]) -> list[str]:
    """Say in a line for each judge whether it can be relied on."""
    return [_line(judge, found) for judge, found in agreements(cards).items()]


def judge_documents(cards: list[Scorecard]) -> dict[str, Any]:
    """Return the same for a program: by judge."""
    # By way of text, which writes a bound that is infinite as null.
    return {
        judge: json.loads(found.model_dump_json())
        for judge, found in agreements(cards).items()
    }


def _line(judge: str, found: Agreement) -> str:
    parts = [
        f"{_counted(found.votes, 'vote')} on {_counted(found.runs, 'run')}",
        f"{found.unreadable} unreadable",
        f"agrees with itself: {_alpha(found.alpha)}",
        f"with the rules: {_with_rules(found)}",
        f"{found.tokens} tokens, {_cost(found.cost_usd)}",
    ]
    return f"judge {judge}: {'; '.join(parts)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _alpha(alpha: Estimate | None) -> str:
    if alpha is None:
        return "cannot be told, no two marks differ"
    return f"alpha {alpha.value:.2f}{_interval(alpha, '.2f')}"


def _with_rules(found: Agreement) -> str:
    if found.with_rules is None:
        return "nothing to compare"
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    share = found.with_rules
    return f"{share.value:.0%}{_interval(share, '.0%')} of criteria{kappa}"


def _cost(usd: float | None) -> str:
    return "at an unknown price" if usd is None else f"${usd:.2f}"


def _interval(estimate: Estimate, form: str) -> str:
    if not estimate.bounded:
        return ""
    return f" ({estimate.low:{form}} to {estimate.high:{form}})"
