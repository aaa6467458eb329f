"""Reasons not to compare numbers, and the ending of every run."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Budget, DataKind
from mlagentbench.core.trace import Ending
from mlagentbench.report.averages import who
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.number_format import listed
from mlagentbench.report.run_rows import RunRow, UngradedRow


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
        text=f"{listed(runs)}: the agent's code could read the labels. Compare these"
        " scores with nothing.",
    )


def _original_runs(cards: Sequence[Scorecard]) -> Caution | None:
    found = [card for card in cards if _is_original(card)]
    if not found:
        return None
    return Caution(
        title="Runs of the original benchmark",
        text=f"{listed([card.run for card in found])}: made by its own harness on its"
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
        text=f"{listed(mixed)}: data, grader or budget differ between them. Each has a"
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
        text=f"{listed(several)}: a run that may do more is expected to score more.",
    )


def _sandboxes(cards: Sequence[Scorecard]) -> Caution | None:
    limits = list(dict.fromkeys(card.sandbox.limits for card in cards))
    if len(limits) < 2:
        return None
    return Caution(
        title="Different limits",
        text=f"Runs had {listed(limits, ' or ')}: with more cores or memory more can be"
        " trained in the same time.",
    )


def _harnesses(cards: Sequence[Scorecard]) -> Caution | None:
    versions = list(dict.fromkeys(card.harness.version for card in cards))
    if len(versions) < 2:
        return None
    return Caution(
        title="Judged by different versions",
        text=f"mlagentbench {listed(versions, ' and ')}: `mlab score` judges all of"
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
        text=f"{listed(names)}: without its mean there is no improvement and no"
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
        text=f"{listed(names)}: substitutes or generated data. Their scores say nothing"
        " about published ones.",
    )


NO_CARD = "no scorecard"
_UNKNOWN = "unknown"


class AgentLine(Record):
    """How one agent's runs ended."""

    who: str
    counts: tuple[int, ...]
    """One for each column."""

    @property
    def total(self) -> int:
        """All of its runs."""
        return sum(self.counts)


class SetApart(Record):
    """A run that is in no average."""

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
    asked: int | None
    """How many runs were asked for; None where that is not known."""
    apart: tuple[SetApart, ...]
    failed: tuple[SetApart, ...]
    """Counted, but without a score."""

    @property
    def runs(self) -> int:
        """All runs."""
        return sum(self.totals)


def accounts(
    view: ExperimentView, rows: Sequence[RunRow], ungraded: Sequence[UngradedRow]
) -> Accounts:
    """Count every run of an experiment once, by who acted and how it ended."""
    final = _last_attempts(rows)
    ended = [(who(row.card), _words(row.card.ending)) for row in final]
    ended += [(_who(row.id), NO_CARD) for row in ungraded]
    columns = _columns(final, without_card=bool(ungraded))
    agents = tuple(_line(name, ended, columns) for name in dict(ended))
    return Accounts(
        columns=columns,
        uncounted=tuple(name for name in columns if not _counts(name)),
        agents=agents,
        totals=tuple(map(sum, zip(*(line.counts for line in agents), strict=True))),
        asked=len(view.asked) or None,
        apart=(*_apart(rows, final), *_not_graded(ungraded), *_left_out(view)),
        failed=tuple(
            _set_apart(row)
            for row in final
            if row.card.ending.counts and row.card.score is None
        ),
    )


def _last_attempts(rows: Iterable[RunRow]) -> list[RunRow]:
    last: dict[str, RunRow] = {}
    for row in rows:
        earlier = last.get(row.card.run)
        if earlier is None or row.card.attempt >= earlier.card.attempt:
            last[row.card.run] = row
    return list(last.values())


def _columns(final: Sequence[RunRow], *, without_card: bool) -> tuple[str, ...]:
    seen = {row.card.ending for row in final}
    named = [_words(ending) for ending in Ending if ending in seen]
    return (*named, NO_CARD) if without_card else tuple(named)


def _words(ending: Ending) -> str:
    return ending.replace("_", " ")


def _counts(column: str) -> bool:
    return column != NO_CARD and Ending(column.replace(" ", "_")).counts


def _line(
    name: str, ended: Sequence[tuple[str, str]], columns: Sequence[str]
) -> AgentLine:
    counts = Counter(ending for agent, ending in ended if agent == name)
    return AgentLine(who=name, counts=tuple(counts[column] for column in columns))


def _who(run: RunId | None) -> str:
    if run is None:
        return _UNKNOWN
    return run.agent if run.model in ("", "none") else f"{run.agent} / {run.model}"


def _apart(rows: Sequence[RunRow], final: Sequence[RunRow]) -> Iterable[SetApart]:
    kept = {row.anchor for row in final}
    for row in rows:
        if row.anchor not in kept:
            yield _set_apart(row, "; it was repeated, and the last attempt counts")
        elif not row.card.ending.counts:
            yield _set_apart(row)


def _set_apart(row: RunRow, more: str = "") -> SetApart:
    why = row.why or "no reason recorded"
    return SetApart(
        anchor=row.anchor,
        run=row.card.run,
        kind=_words(row.card.ending),
        why=f"{why}{more}",
    )


def _not_graded(ungraded: Iterable[UngradedRow]) -> Iterable[SetApart]:
    for row in ungraded:
        steps = row.details.total_steps
        why = f"{steps:,} steps recorded" if steps else "it left no steps"
        yield SetApart(anchor=row.anchor, run=row.run, kind=NO_CARD, why=why)


def _left_out(view: ExperimentView) -> Iterable[SetApart]:
    for one in view.left_out:
        yield SetApart(anchor="", run=one.run, kind="left out", why=one.why)
