"""A run as the page writes it: a record of short, ready text."""

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.report.numbers import dollars, duration, number, percent, with_unit
from mlagentbench.report.plain import shortened
from mlagentbench.report.steps import Fact, StepRow, step_rows
from mlagentbench.report.tally import improvement
from mlagentbench.report.text import verdict
from mlagentbench.report.view import ExperimentView, TaskFacts, score_name


class RunRow(Record):
    """One run: a line of the table and the fold of its steps."""

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
    verdict: str
    why: str
    """Why there is no score, or why it ended so; empty where nothing is to say."""
    facts: tuple[Fact, ...]
    steps: tuple[StepRow, ...]


class UnjudgedRow(Record):
    """A run that left steps but no scorecard."""

    anchor: str
    run: str
    steps: tuple[StepRow, ...]


def run_rows(view: ExperimentView) -> list[RunRow]:
    """Write every judged run of an experiment."""
    return [
        _run_row(f"run-{place}", card, view.facts(card), view.trace(card))
        for place, card in enumerate(view.cards, start=1)
    ]


def unjudged_rows(view: ExperimentView) -> list[UnjudgedRow]:
    """Write every run of an experiment that nobody judged."""
    return [
        UnjudgedRow(anchor=f"unjudged-{place}", run=trace.run, steps=step_rows(trace))
        for place, trace in enumerate(view.unjudged, start=1)
    ]


def _run_row(
    anchor: str, card: Scorecard, facts: TaskFacts, trace: Trace | None
) -> RunRow:
    return RunRow(
        anchor=anchor,
        card=card,
        name=score_name(card),
        ending=card.ending.replace("_", " "),
        score=with_unit(card.score, facts.unit),
        starter=number(card.starter.mean) if card.starter else "not measured",
        improvement=percent(card.improvement),
        gain=improvement(card),
        time=duration(card.seconds.total),
        verdict=verdict(card),
        why=_why(card),
        facts=tuple(_run_facts(card, facts)),
        steps=step_rows(trace, facts.unit) if trace else (),
    )


def _why(card: Scorecard) -> str:
    reasons = filter(None, (card.submission_error, card.reason))
    return shortened("; ".join(reasons), lines=4, characters=500)


def _run_facts(card: Scorecard, facts: TaskFacts) -> list[Fact]:
    lines = {
        "Belongs to": score_name(card),
        "Metric": f"{card.metric}, {card.direction} is better",
        "Score": with_unit(card.score, facts.unit),
        "Score interval": " to ".join(map(number, card.score_ci or ())),
        "Success bar": with_unit(facts.success_bar, facts.unit),
        "Reference": with_unit(facts.reference, facts.unit),
        "Gap closed": percent(card.gap_closed),
        "Best step": _best_step(card, facts),
        "Actions": _counted(card.actions),
        "Failures": _counted(card.errors),
        "Time": _time(card),
        "Cost": dollars(card.cost_usd) if card.cost_usd else "",
        "Attempt": str(card.attempt) if card.attempt > 1 else "",
        "Sandbox": f"{card.sandbox.provider}, {card.sandbox.limits}",
    }
    return [
        Fact(label=label, text=text)
        for label, text in lines.items()
        if text not in ("", "none")
    ]


def _best_step(card: Scorecard, facts: TaskFacts) -> str:
    best = card.best_step
    return f"{with_unit(best.score, facts.unit)} at step {best.step}" if best else ""


def _time(card: Scorecard) -> str:
    spent = card.seconds
    parts = {"model": spent.model, "execute": spent.execute, "harness": spent.harness}
    split = ", ".join(f"{name} {duration(time)}" for name, time in parts.items())
    return f"{duration(spent.total)} ({split})"


def _counted(counts: dict[str, int]) -> str:
    listed = (f"{name} {count}" for name, count in counts.items())
    return shortened(", ".join(listed), lines=1, characters=400)
