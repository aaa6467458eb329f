"""Lines of the page's table of runs, and the details below each."""

from mlagentbench.core import Record, RunId, Scorecard, Step, Trace, executes
from mlagentbench.evaluation import finite_improvement, given_away
from mlagentbench.report.data import CodeChanges, ExperimentView, TaskFacts
from mlagentbench.report.findings import named_steps
from mlagentbench.report.number_format import (
    Caps,
    dollars,
    duration,
    fitted,
    fitted_end,
    number,
    percent,
    with_unit,
)
from mlagentbench.report.run_steps import (
    Execution,
    Plan,
    executions,
    plan_of,
    shown_steps,
)
from mlagentbench.report.terminal import verdict


class RunDetails(Record):
    """The parts of a trace that are shown of one run."""

    plan: Plan | None
    code: CodeChanges | None = None
    executions: tuple[Execution, ...] = ()
    steps: tuple[Step, ...]
    total_executions: int = 0
    total_steps: int
    traceback: str = ""
    """Of an agent that crashed."""

    @property
    def shown(self) -> frozenset[int]:
        return frozenset(step.step for step in self.steps)

    @property
    def left_out(self) -> str:
        """Name the lists that are not complete; empty if all is shown."""
        short = [
            f"{shown:,} of {total:,} {what}"
            for what, shown, total in (
                ("steps", len(self.steps), self.total_steps),
                ("executions", len(self.executions), self.total_executions),
            )
            if shown < total
        ]
        return " and ".join(short)


class RunRow(Record):
    """One run with a scorecard."""

    anchor: str
    """Names the details within the page; never made of the run's own text."""
    card: Scorecard
    unit: str
    improvement: float | None
    """Finite, to sort by."""
    why: str
    """Why there is no score, or why the run ended; empty if there is no reason."""
    facts: dict[str, str]
    details: RunDetails


class UngradedRow(Record):
    """A run without a scorecard: it left steps, or was planned and left nothing."""

    anchor: str
    run: str
    id: RunId | None
    """None if the agent is not known."""
    unit: str = ""
    details: RunDetails


def run_rows(view: ExperimentView, caps: Caps) -> list[RunRow]:
    """Return every run of an experiment that has a scorecard."""
    limit = max(160, min(400, caps.text))
    return [
        RunRow(
            anchor=f"run-{place}",
            card=card,
            unit=view.facts(card).unit,
            improvement=finite_improvement(card),
            why=fitted(
                "; ".join(filter(None, (card.submission_error, card.reason))),
                limit,
                lines=4,
            ),
            facts=run_facts(card, view.facts(card), limit=limit),
            details=_details(view, card, caps),
        )
        for place, card in enumerate(view.cards, start=1)
    ]


def ungraded_rows(view: ExperimentView, caps: Caps) -> list[UngradedRow]:
    """Return every run of an experiment that has no scorecard."""
    planned = {str(run): run for run in view.asked}
    traces = {trace.run: trace for trace in view.ungraded}
    graded = {card.run for card in view.cards}
    names = dict.fromkeys((*traces, *(run for run in planned if run not in graded)))
    rows = []
    for place, run in enumerate(names, start=1):
        trace = traces.get(run) or Trace(run=run)
        details = RunDetails(
            plan=plan_of(trace),
            steps=shown_steps(trace, caps.items),
            total_steps=len(trace.steps),
        )
        anchor, planned_run = f"ungraded-{place}", planned.get(run)
        rows.append(
            UngradedRow(anchor=anchor, run=run, id=planned_run, details=details)
        )
    return rows


def _details(view: ExperimentView, card: Scorecard, caps: Caps) -> RunDetails:
    # The trace and the code of a repeated run belong to its last attempt.
    found = view.trace(card)
    trace = found or Trace(run=card.run)
    crash = trace.end.traceback if trace.end else None
    return RunDetails(
        plan=plan_of(trace),
        code=view.code.get(card.run) if found else None,
        executions=executions(trace, card.direction, caps.items),
        steps=shown_steps(trace, caps.items, named_steps(card)),
        total_executions=sum(map(executes, trace.steps)),
        total_steps=len(trace.steps),
        traceback=fitted_end(crash or "", 4 * caps.text, lines=40),
    )


_KINDS = ("input", "output", "cached")


def run_facts(card: Scorecard, facts: TaskFacts, *, limit: int) -> dict[str, str]:
    """Return what is known of a run, by label."""
    best = card.best_step
    lines = {
        "Belongs to": card.score_name,
        "Metric": f"{card.metric}, {card.direction} is better",
        "Success": verdict(card),
        "Score": with_unit(card.score, facts.unit),
        "Score interval": " to ".join(map(number, card.score_ci or ())),
        "Success threshold": with_unit(facts.success_threshold, facts.unit),
        "Reference": with_unit(facts.reference, facts.unit),
        "Gap closed": percent(card.gap_closed),
        "Best step": f"{with_unit(best.score, facts.unit)} at step {best.step}"
        if best
        else "",
        "Given away": percent(given_away(card) or None),
        "First success": _first_success(card),
        "Had it stopped earlier": _by_budget(card, facts),
        "Main reason": card.failure or "",
        "Actions": _counted(card.actions),
        "Failures": _counted(card.errors),
        "Time": _time(card),
        "Tokens": _tokens(card),
        "Cost": dollars(card.cost_usd) if card.cost_usd else "",
        "Attempt": str(card.attempt) if card.attempt > 1 else "",
        "Taken up again": f"{card.resumed} times" if card.resumed else "",
        "Sandbox": f"{card.sandbox.provider}, {card.sandbox.limits}",
        "Graded": f"{card.created} by mlagentbench {card.harness.version}",
    }
    return {
        label: fitted(text, limit, lines=1)
        for label, text in lines.items()
        if text not in ("", "none")
    }


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
    counts = {kind: card.tokens.get(kind) for kind in _KINDS}
    known = {kind: count for kind, count in counts.items() if isinstance(count, int)}
    written = ", ".join(f"{count:,} {kind}" for kind, count in known.items())
    return written if any(known.values()) else ""


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
