"""A run as the page writes it: a line of the table, and its fold."""

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.statistics.tallies import gain
from mlagentbench.report.budgeting import Allowance, allowance, fitted
from mlagentbench.report.folds import Fold, bare_fold, fold
from mlagentbench.report.numbers import duration, number, percent, with_unit
from mlagentbench.report.view import ExperimentView


class RunRow(Record):
    """One run that was judged."""

    anchor: str
    """Names the fold within the page; never made of the run's own text."""
    card: Scorecard
    name: str
    ending: str
    score: str
    starter: str
    improvement: str
    gain: float | None
    """The improvement to sort by."""
    time: str
    why: str
    """Why there is no score, or why it ended so; empty where nothing is to say."""
    fold: Fold


class UnjudgedRow(Record):
    """A run without a scorecard: it left steps, or was asked for and left nothing."""

    anchor: str
    run: str
    id: RunId | None
    """None where nobody knows who acted."""
    fold: Fold


def run_rows(view: ExperimentView) -> list[RunRow]:
    """Write every judged run of an experiment."""
    allowed = _allowed(view)
    return [
        _run_row(f"run-{place}", view, card, allowed)
        for place, card in enumerate(view.cards, start=1)
    ]


def unjudged_rows(view: ExperimentView) -> list[UnjudgedRow]:
    """Write every run of an experiment that nobody judged."""
    asked = {str(run): run for run in view.asked}
    traces = {trace.run: trace for trace in view.unjudged}
    judged = {card.run for card in view.cards}
    names = dict.fromkeys((*traces, *(run for run in asked if run not in judged)))
    allowed = _allowed(view)
    return [
        UnjudgedRow(
            anchor=f"unjudged-{place}",
            run=run,
            id=asked.get(run),
            fold=bare_fold(traces.get(run) or Trace(run=run), allowed),
        )
        for place, run in enumerate(names, start=1)
    ]


def _allowed(view: ExperimentView) -> Allowance:
    return allowance(len(view.cards) + len(view.unjudged))


def _run_row(
    anchor: str, view: ExperimentView, card: Scorecard, allowed: Allowance
) -> RunRow:
    return RunRow(
        anchor=anchor,
        card=card,
        name=card.score_name,
        ending=card.ending.replace("_", " "),
        score=with_unit(card.score, view.facts(card).unit),
        starter=number(card.starter.mean) if card.starter else "not measured",
        improvement=percent(card.improvement),
        gain=gain(card),
        time=duration(card.seconds.total),
        why=_why(card, allowed),
        fold=fold(view, card, allowed),
    )


def _why(card: Scorecard, allowed: Allowance) -> str:
    reasons = filter(None, (card.submission_error, card.reason))
    return fitted("; ".join(reasons), allowed.fact, lines=4)
