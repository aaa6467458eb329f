"""A run's line and its details."""

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.statistics.tallies import finite_improvement, given_away
from mlagentbench.report.code_changes import CodeRow, code_row
from mlagentbench.report.data import CodeChanges, ExperimentView, TaskFacts
from mlagentbench.report.findings import (
    FindingRow,
    OpinionRow,
    finding_rows,
    named_steps,
    opinion_row,
)
from mlagentbench.report.number_format import (
    Allowance,
    allowance,
    dollars,
    duration,
    fitted,
    number,
    percent,
    with_unit,
)
from mlagentbench.report.run_steps import (
    Experiments,
    Fact,
    PlanRow,
    StepRow,
    experiments,
    plan_row,
    step_rows,
)
from mlagentbench.report.terminal import verdict


class Fold(Record):
    """Everything that is shown of one run below its line."""

    facts: tuple[Fact, ...] = ()
    plan: PlanRow | None = None
    code: CodeRow | None = None
    experiments: Experiments = Experiments()
    examined: bool = False
    """Whether anybody looked how the run was worked."""
    findings: tuple[FindingRow, ...] = ()
    opinion: OpinionRow | None = None
    steps: tuple[StepRow, ...] = ()
    total_steps: int = 0

    @property
    def shown(self) -> frozenset[int]:
        """The steps a link can lead to."""
        return frozenset(step.number for step in self.steps)

    @property
    def left_out(self) -> str:
        """Say what there was no room for; empty where all is shown."""
        short = [
            f"{shown:,} of {total:,} {what}"
            for what, shown, total in (
                ("steps", len(self.steps), self.total_steps),
                ("executions", len(self.experiments.rows), self.experiments.total),
            )
            if shown < total
        ]
        return " and ".join(short)


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
        gain=finite_improvement(card),
        time=duration(card.seconds.total),
        why=_why(card, allowed),
        fold=fold(view, card, allowed),
    )


def _why(card: Scorecard, allowed: Allowance) -> str:
    reasons = filter(None, (card.submission_error, card.reason))
    return fitted("; ".join(reasons), allowed.fact, lines=4)


def fold(view: ExperimentView, card: Scorecard, allowed: Allowance) -> Fold:
    """Write what is known of a judged run."""
    facts = view.facts(card)
    trace = view.trace(card) or Trace(run=card.run)
    telling = named_steps(card)
    return Fold(
        facts=run_facts(card, facts, room=allowed.fact),
        plan=plan_row(trace, room=allowed.plan),
        code=code_row(_code(view, card), room=allowed.diff),
        experiments=experiments(
            trace, facts.unit, facts.direction, room=allowed.experiments
        ),
        examined=bool(card.process),
        findings=finding_rows(card, room=allowed.findings),
        opinion=opinion_row(card.opinion, room=allowed.findings // 2),
        steps=step_rows(trace, facts.unit, room=allowed.steps, telling=telling),
        total_steps=len(trace.steps),
    )


def bare_fold(trace: Trace, allowed: Allowance) -> Fold:
    """Write what is known of a run that nobody judged."""
    return Fold(
        plan=plan_row(trace, room=allowed.plan),
        steps=step_rows(trace, room=allowed.steps),
        total_steps=len(trace.steps),
    )


def _code(view: ExperimentView, card: Scorecard) -> CodeChanges | None:
    # What is kept of a run that was repeated belongs to its last attempt.
    return view.code.get(card.run) if view.trace(card) else None


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
        "Success bar": with_unit(facts.success_threshold, facts.unit),
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
