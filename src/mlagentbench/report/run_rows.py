"""Lines of the page's table of runs, and the details below each."""

import math
from collections.abc import Collection, Sequence

from mlagentbench.core import (
    FINAL_ANSWER,
    STALE_BASELINE,
    Direction,
    Record,
    RunId,
    Scorecard,
    Step,
    Trace,
    executes,
    given,
)
from mlagentbench.evaluation import finite_improvement, given_away, is_free
from mlagentbench.report.data import CodeChanges, ExperimentView, TaskFacts
from mlagentbench.report.findings import named_steps
from mlagentbench.report.number_format import (
    Caps,
    compact,
    dollars,
    duration,
    fitted,
    fitted_end,
    hundredths,
    moment,
    number,
    percent,
    share,
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
    answer: str = ""
    """The agent's final answer."""
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


class ScaleMark(Record):
    """A score on the line from worse to better."""

    name: str
    value: float
    at: float
    """Its place, from 0 to 1; a score far outside the baselines is at the edge."""


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
    scale: tuple[ScaleMark, ...]
    """The score and its baselines; empty without a score or a baseline."""
    details: RunDetails

    @property
    def seed(self) -> int:
        return self.card.seed

    @property
    def smaller_budgets(self) -> bool:
        """Whether a score with fewer steps than the run took is known."""
        return any(point.steps < self.card.steps for point in self.card.by_budget)


class UngradedRow(Record):
    """A run without a scorecard: it left steps, or was planned and left nothing."""

    anchor: str
    run: str
    id: RunId | None
    """None if the agent is not known."""
    unit: str = ""
    details: RunDetails

    @property
    def seed(self) -> int | None:
        return self.id.seed if self.id else None


def run_rows(view: ExperimentView, caps: Caps) -> list[RunRow]:
    """Return every run of an experiment that has a scorecard."""
    limit = max(160, min(400, caps.text))
    traces = view.traces_by_attempt()
    return [
        RunRow(
            anchor=f"run-{place}",
            card=card,
            unit=view.facts(card).unit,
            improvement=finite_improvement(card),
            why=fitted(
                "; ".join(
                    filter(
                        None, (card.submission_error, card.reason, card.baseline_error)
                    )
                ),
                limit,
                lines=4,
            ),
            facts=run_facts(card, view.facts(card), limit=limit),
            scale=score_scale(card, view.facts(card)),
            details=_details(view, card, traces.get((card.run, card.attempt)), caps),
        )
        for place, card in enumerate(view.cards, start=1)
    ]


def ungraded_rows(view: ExperimentView, caps: Caps) -> list[UngradedRow]:
    """Return every run of an experiment that has no scorecard."""
    planned = view.asked
    traces = {trace.run: trace for trace in view.ungraded}
    graded = {card.run for card in view.cards}
    names = dict.fromkeys((*traces, *(run for run in planned if run not in graded)))
    known = {facts.name.partition("@")[0]: facts for facts in view.tasks}
    rows = []
    for place, run in enumerate(names, start=1):
        trace, asked = traces.get(run) or Trace(run=run), planned.get(run)
        facts = known.get(asked.task) if asked else None
        row = UngradedRow(
            anchor=f"ungraded-{place}",
            run=run,
            id=asked,
            unit=facts.unit if facts else "",
            details=_read_details(trace, caps, facts.direction if facts else None),
        )
        rows.append(row)
    return rows


def only_run(
    rows: Sequence[RunRow], ungraded: Sequence[UngradedRow]
) -> RunRow | UngradedRow | None:
    """Return the last attempt of the only run; None if there are several runs."""
    graded = {(row.card.run, row.card.score_name) for row in rows}
    # Attempts of one run are numbered; runs of one name in several folders are not.
    repeated = len({row.card.attempt for row in rows}) < len(rows)
    if repeated or len(graded) + len(ungraded) != 1:
        return None
    return max(rows, key=lambda row: row.card.attempt) if rows else ungraded[0]


def run_title(row: RunRow | UngradedRow) -> str:
    """Name the task, the agent and the model of a run."""
    if isinstance(row, RunRow):
        task, agent, model = row.card.task, row.card.agent_shown, row.card.model
    elif row.id:
        task, agent, model = row.id.task, row.id.agent, row.id.model
    else:
        return row.run
    by = agent if model in ("", "none") else f"{agent} with {model}"
    return f"{task}: {by}"


Tile = tuple[str, str, str]
"""A label, a value and a remark."""


def tiles(row: RunRow | UngradedRow) -> tuple[Tile, ...]:
    """Return the result of one run in short facts, as far as they are known."""
    best = next((one.step for one in row.details.executions if one.best), None)
    value = best.validation.value if best and best.validation else None
    at = f"{row.unit} at step {best.step}".strip() if best else ""
    validation = ("Best validation score", number(value), at)
    if isinstance(row, UngradedRow):
        found = [
            ("Ending", "no scorecard", ""),
            ("Steps", f"{row.details.total_steps:,}", ""),
            validation,
        ]
    else:
        queries = ("Validation queries", str(row.card.validation_queries or ""), "")
        found = [*_result_tiles(row.card), validation, queries]
        found += _spent_tiles(row.card)
    known = (tile for tile in found if tile[0] == "Level" or tile[1] != "none")
    return tuple(tile for tile in known if tile[1])


def _result_tiles(card: Scorecard) -> list[Tile]:
    sure = "significant" if card.significant else "not significant"
    success = ("Success", "yes" if card.success else "no", sure if card.success else "")
    if not card.counts:
        stale = card.baseline_error is not None and card.ending.counts
        success = ("Success", "excluded", STALE_BASELINE if stale else "from averages")
    # The normalised score leads the page; older scorecards have only the gap.
    closed = None if card.normalised is not None else card.gap_closed
    return [
        ("Level", card.level or "", ""),
        ("Improvement", percent(card.improvement), "over the starter"),
        success,
        (
            "Gap to the reference closed",
            "" if closed is None or not math.isfinite(closed) else share(closed),
            "",
        ),
        ("Ending", card.ending.replace("_", " "), ""),
    ]


def _spent_tiles(card: Scorecard) -> list[Tile]:
    counts = (card.tokens.get(kind) for kind in _KINDS)
    tokens = sum(count for count in counts if isinstance(count, int))
    known = card.cost_usd or is_free(card.model)
    price = dollars(card.cost_usd) if tokens and known and not card.unpriced else ""
    return [
        ("Steps", f"{card.steps:,}" if card.steps else "", ""),
        ("Time", duration(card.seconds.total) if card.seconds.total else "", ""),
        ("Tokens", compact(tokens) if tokens else "", ""),
        ("Model cost", price, ""),
    ]


def _details(
    view: ExperimentView, card: Scorecard, found: Trace | None, caps: Caps
) -> RunDetails:
    # The trace and the code of a repeated run belong to its last attempt.
    trace = found or Trace(run=card.run)
    read = _read_details(trace, caps, card.direction, named_steps(card))
    code = view.code.get(card.run) if found else None
    return read.model_copy(update={"code": code})


def _read_details(
    trace: Trace,
    caps: Caps,
    direction: Direction | None,
    telling: Collection[int] = (),
) -> RunDetails:
    crash = trace.end.traceback if trace.end else None
    ran = executions(trace, direction, caps.items) if direction else ()
    ends = (step for step in trace.steps if step.action == FINAL_ANSWER.name)
    return RunDetails(
        plan=plan_of(trace),
        executions=ran,
        answer=next((given(step, "final_answer") for step in ends), "").strip(),
        steps=shown_steps(trace, caps.items, telling),
        total_executions=sum(map(executes, trace.steps)) if direction else 0,
        total_steps=len(trace.steps),
        traceback=fitted_end(crash or "", 4 * caps.text, lines=40),
    )


def score_scale(card: Scorecard, facts: TaskFacts) -> tuple[ScaleMark, ...]:
    """Place a score between its baselines, the better the further right."""
    known = facts.baselines
    if card.score is None or not math.isfinite(card.score) or not known:
        return ()
    higher = card.direction is Direction.HIGHER
    low, high = min(known.values()), max(known.values())
    reach = (high - low) or abs(high) or 1.0
    score = min(max(card.score, low - reach), high + reach)
    low, high = min(low, score), max(high, score)
    width = (high - low) or 1.0
    marks = {name: (value, value) for name, value in known.items()}
    marks["this run"] = (card.score, score)
    return tuple(
        ScaleMark(
            name=name,
            value=value,
            at=(place - low if higher else high - place) / width,
        )
        for name, (value, place) in marks.items()
    )


_KINDS = ("input", "output", "cached")


def run_facts(card: Scorecard, facts: TaskFacts, *, limit: int) -> dict[str, str]:
    """Return what is known of a run, by label."""
    best = card.best_step
    lines = {
        "Run": card.run,
        "Task": card.score_name,
        "Task folder": card.task_digest[:8],
        "Agent's code": card.agent_digest[:8],
        "Metric": f"{card.metric}, {card.direction} is better",
        "Normalised score": hundredths(card.normalised),
        "Level": f"{card.level}, the highest reached" if card.level else "",
        "Success": verdict(card),
        "Test score": with_unit(card.score, facts.unit),
        "95 % interval of the score": " to ".join(map(number, card.score_ci or ())),
        "Success threshold": with_unit(facts.success_threshold, facts.unit),
        "Tuning baseline": with_unit(facts.tuned, facts.unit),
        "Reference": with_unit(facts.reference, facts.unit),
        "Gap to the reference closed": percent(card.gap_closed),
        "95 % interval of the improvement": " to ".join(
            map(percent, card.improvement_ci or ())
        ),
        "Validation queries": str(card.validation_queries or ""),
        "Needs files of earlier executions": _carried(card),
        "Best graded step": f"{with_unit(best.score, facts.unit)} at step {best.step}"
        if best
        else "",
        "Improvement below the best step": percent(given_away(card) or None),
        "First success": _first_success(card),
        "With fewer steps": _by_budget(card, facts),
        "Failure mode": card.failure or "",
        "Actions": _counted(card.actions),
        "Errors": _counted(card.errors),
        "Time": _time(card),
        "CPU time in the sandbox": duration(card.cpu_seconds)
        if card.cpu_seconds is not None
        else "",
        "Machine calibration": f"{number(card.calibration_seconds, digits=3)} CPU s"
        if card.calibration_seconds
        else "",
        "Tokens": _tokens(card),
        "Cost": dollars(card.cost_usd) if card.cost_usd else "",
        "Attempt": str(card.attempt) if card.attempt > 1 else "",
        "Resumed": {0: "", 1: "once"}.get(card.resumed, f"{card.resumed} times"),
        "Sandbox": f"{card.sandbox.provider}, {card.sandbox.limits}",
        "Graded": f"{moment(card.created)} by mlagentbench {card.harness.version}",
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
        if point.steps < card.steps
    )


def _time(card: Scorecard) -> str:
    spent = card.seconds
    parts = {"model": spent.model, "execution": spent.execute, "harness": spent.harness}
    split = ", ".join(f"{name} {duration(time)}" for name, time in parts.items())
    return f"{duration(spent.total)} ({split})"


def _tokens(card: Scorecard) -> str:
    counts = {kind: card.tokens.get(kind) for kind in _KINDS}
    known = {kind: count for kind, count in counts.items() if isinstance(count, int)}
    written = ", ".join(f"{count:,} {kind}" for kind, count in known.items())
    return written if any(known.values()) else ""


def _carried(card: Scorecard) -> str:
    if card.carried_files is None:
        return ""
    return ", ".join(card.carried_files) or "no"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
