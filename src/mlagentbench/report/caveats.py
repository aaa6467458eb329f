"""Reasons not to compare numbers, and the ending of every run."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from mlagentbench.core import (
    STALE_BASELINE,
    Budget,
    DataKind,
    Ending,
    Record,
    Scorecard,
    who,
)
from mlagentbench.report.averages import machines_differ
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.number_format import listed, number
from mlagentbench.report.run_rows import RunRow, UngradedRow


class Caution(Record):
    """One reason why some numbers cannot be put beside others."""

    title: str
    text: str


def cautions(view: ExperimentView) -> tuple[Caution, ...]:
    """Return every reason that the runs of this page give."""
    cards = view.cards
    ours = [card for card in cards if not _is_original(card)]
    limits = list(dict.fromkeys(card.sandbox.limits for card in cards))
    versions = list(dict.fromkeys(card.harness.version for card in cards))
    found = (
        (
            "Runs without isolation",
            listed(card.run for card in ours if card.sandbox.unsafe),
            "the agent's code could read the labels. Do not compare these scores.",
        ),
        (
            "Runs of the original benchmark",
            listed(card.run for card in cards if _is_original(card)),
            "made with another harness, data and graders. Compare the process checks,"
            " not the scores.",
        ),
        (
            "Several versions or editions of one task",
            listed(_several((c.task, c.task_name) for c in cards)),
            "data, grader or budget differ between them. Each has a separate row,"
            " and no average includes both.",
        ),
        (
            "Several folders of one version",
            listed(_several((c.task_name, c.score_name) for c in cards)),
            "the task folder differs between these runs. Each has a separate row,"
            " and no average includes both.",
        ),
        (
            "Agents of one name",
            listed(_several((_agent_name(c), c.agent) for c in cards)),
            "their code differs, so each is an agent of its own.",
        ),
        (
            "Seeds that occur twice",
            listed(_several(((c.score_name, who(c), c.seed), c.run) for c in cards)),
            "a run with the same seed may be a repetition rather than a new sample."
            " Intervals take all runs for independent.",
        ),
        (
            "Different budgets",
            listed(_several_budgets(view)),
            "a run with a larger budget is expected to score higher.",
        ),
        (
            "Different limits",
            f"Runs had {listed(limits, ' or ')}" if len(limits) > 1 else "",
            "more cores or memory allow more training in the same time.",
        ),
        (
            "Graded by different versions",
            f"mlagentbench {listed(versions, ' and ')}" if len(versions) > 1 else "",
            "`mlab score` re-grades all of them with the installed version.",
        ),
        (
            "Machines of different speed",
            _calibrations(cards),
            "divide times by this number to compare them. The same time limit allows"
            " more work on a faster machine.",
        ),
        (
            "Runs without a normalised score",
            _unscored(cards),
            "graded before release 2.0, without a reference, or with a score outside"
            " the task's scale. They are in no mean of normalised scores.",
        ),
        (
            "A starter that was never measured",
            listed(dict.fromkeys(c.score_name for c in ours if c.starter is None)),
            "improvement and success are not defined. Run `mlab measure` to measure"
            " it.",
        ),
        (
            "A stale baseline",
            listed(
                dict.fromkeys(
                    c.score_name for c in ours if c.baseline_error is not None
                )
            ),
            "the task folder changed after its starter was measured, or after the run"
            " started. These runs are in no average, and none is a success.",
        ),
        (
            "Not the data of the paper",
            listed(_other_data(view)),
            "substitute or generated data. Do not compare these scores with published"
            " ones.",
        ),
    )
    return tuple(
        Caution(title=title, text=f"{names}: {why}")
        for title, names, why in found
        if names
    )


def budget_text(budget: Budget) -> str:
    """Write the limits of a run."""
    parts = [f"{budget.steps} steps", f"{budget.minutes:g} min"]
    parts += [f"{budget.tokens:,} tokens"] if budget.tokens else []
    parts += [f"${budget.cost_usd:g}"] if budget.cost_usd else []
    return ", ".join(parts)


def _calibrations(cards: Sequence[Scorecard]) -> str:
    if not machines_differ(cards):
        return ""
    found = [card.calibration_seconds for card in cards if card.calibration_seconds]
    low, high = (number(each, digits=3) for each in (min(found), max(found)))
    return f"A fixed computation took {low} to {high} CPU s"


def _unscored(cards: Sequence[Scorecard]) -> str:
    """Name runs that are left out of means that other runs are in."""
    runs = [card for card in cards if card.counts]
    without = [card.run for card in runs if card.normalised is None]
    return listed(without) if len(without) < len(runs) else ""


def _is_original(card: Scorecard) -> bool:
    return "original" in (card.edition, card.sandbox.provider)


def _several(pairs: Iterable[tuple[Hashable, str]]) -> Iterable[str]:
    """Write the names of every group that has several."""
    groups: dict[Hashable, set[str]] = {}
    for key, name in pairs:
        groups.setdefault(key, set()).add(name)
    return (" and ".join(sorted(names)) for names in groups.values() if len(names) > 1)


def _agent_name(card: Scorecard) -> str:
    """Return an agent's name without the digest that tells it from others."""
    return card.agent.removesuffix(f" ({card.agent_digest[:8]})")


def _several_budgets(view: ExperimentView) -> Iterable[str]:
    for name, budgets in view.budgets.items():
        texts = dict.fromkeys(map(budget_text, budgets))
        if len(texts) > 1:
            yield f"{name} ({' or '.join(texts)})"


def _other_data(view: ExperimentView) -> Iterable[str]:
    shown = {card.score_name for card in view.cards}
    for facts in view.tasks:
        if facts.name in shown and facts.data not in (None, DataKind.REAL):
            yield facts.name


NO_CARD = "no scorecard"


class AgentLine(Record):
    """How one agent's runs ended."""

    who: str
    counts: tuple[int, ...]
    """One for each column."""

    @property
    def total(self) -> int:
        return sum(self.counts)


class ExcludedRun(Record):
    """A run that is in no average, or has no score."""

    anchor: str
    run: str
    kind: str
    why: str


class Accounts(Record):
    """Every run, counted once."""

    columns: tuple[str, ...]
    """The endings that occurred, as they are written."""
    uncounted: tuple[str, ...]
    """Those of them that are in no average."""
    agents: tuple[AgentLine, ...]
    totals: tuple[int, ...]
    planned: int | None
    """The number of planned runs; None if it is not known."""
    excluded: tuple[ExcludedRun, ...]
    failed: tuple[ExcludedRun, ...]
    """Counted, but without a score."""

    @property
    def runs(self) -> int:
        return sum(self.totals)


def accounts(
    view: ExperimentView, rows: Sequence[RunRow], ungraded: Sequence[UngradedRow]
) -> Accounts:
    """Count every run of an experiment once, by who acted and how it ended."""
    final = _last_attempts(rows)
    ended = [(who(row.card), _words(row.card.ending)) for row in final]
    ended += [(who(row.id) if row.id else "unknown", NO_CARD) for row in ungraded]
    endings = {ending: _words(ending) for ending in Ending}
    seen = {word for _, word in ended}
    columns = tuple(word for word in (*endings.values(), NO_CARD) if word in seen)
    counts = Counter(ended)
    agents = tuple(
        AgentLine(who=name, counts=tuple(counts[name, column] for column in columns))
        for name in dict(ended)
    )
    counting = [word for ending, word in endings.items() if ending.counts]
    return Accounts(
        columns=columns,
        uncounted=tuple(name for name in columns if name not in counting),
        agents=agents,
        totals=tuple(map(sum, zip(*(line.counts for line in agents), strict=True))),
        planned=len(view.asked) or None,
        excluded=(
            *_excluded(rows, final),
            *(_not_graded(row, view.missing.get(row.run, "")) for row in ungraded),
            *(
                ExcludedRun(anchor="", run=one.run, kind="left out", why=one.why)
                for one in view.left_out
            ),
        ),
        failed=tuple(
            _excluded_run(row)
            for row in final
            if row.card.counts and row.card.score is None
        ),
    )


def _last_attempts(rows: Iterable[RunRow]) -> list[RunRow]:
    last: dict[str, RunRow] = {}
    for row in rows:
        earlier = last.get(row.card.run)
        if earlier is None or row.card.attempt >= earlier.card.attempt:
            last[row.card.run] = row
    return list(last.values())


def _words(ending: Ending) -> str:
    return ending.replace("_", " ")


def _excluded(rows: Sequence[RunRow], final: Sequence[RunRow]) -> Iterable[ExcludedRun]:
    kept = {row.anchor for row in final}
    for row in rows:
        if row.anchor not in kept:
            yield _excluded_run(
                row, "; the run was repeated, and its last attempt counts"
            )
        elif not row.card.counts:
            yield _excluded_run(row)


def _excluded_run(row: RunRow, more: str = "") -> ExcludedRun:
    why = f"{row.why or 'no reason recorded'}{more}"
    ending, stale = row.card.ending, row.card.baseline_error is not None
    kind = STALE_BASELINE if ending.counts and stale else _words(ending)
    return ExcludedRun(anchor=row.anchor, run=row.card.run, kind=kind, why=why)


def _not_graded(row: UngradedRow, missing: str) -> ExcludedRun:
    steps = row.details.total_steps
    recorded = f"{steps:,} steps recorded" if steps else "no steps recorded"
    why = missing or recorded
    return ExcludedRun(anchor=row.anchor, run=row.run, kind=NO_CARD, why=why)
