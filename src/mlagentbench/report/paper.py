"""The paper's tables 3 and 4, by the rules of its evaluation.

The rules are those of `eval.py` and `plot.py` of the original MLAgentBench. They differ
from the report's own averages:

- Success is over all runs that count, improvement over runs with a valid submission.
- A task without a valid run has an improvement of 0, and this 0 is averaged.
- A task that an agent was never run on is printed as 0.0 and is in no average.
- A score of 0 or below is not a valid submission.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Record,
    Scorecard,
    UsageError,
    harmless,
    has_usable_starter,
    improvement_of,
)
from mlagentbench.evaluation import by_name, counted
from mlagentbench.report.averages import Column, columns
from mlagentbench.report.number_format import tenths

THRESHOLDS = (0.05, 0.10, 0.15, 0.20, 0.30)
"""Improvements above which the original calls a run a success."""
PRINTED = THRESHOLDS.index(SUCCESS_THRESHOLD)
"""The place of the threshold of the paper's table 3."""

PAPER_METRICS = {
    "cifar10": "accuracy",
    "imdb": "accuracy",
    "ogbn-arxiv": "accuracy",
    "house-price": "mae",
    "spaceship-titanic": "accuracy",
    "parkinsons-disease": "smape",
    "fathomnet": "auc_map20",
    "feedback": "mcrmse",
    "identify-contrails": "mean_dice",
    "llama-inference": "seconds_per_token",
    "vectorization": "seconds",
    "CLRS": "pointer_accuracy",
    "BabyLM": "perplexity",
}
"""The tasks in the order of the paper's tables, each with the metric of its scorer."""
_NAMES = {task.casefold(): task for task in PAPER_METRICS}
_ORDER = list(_NAMES)

StepScores = Mapping[str, Sequence[tuple[int, float]]]
"""By run: held-out scores after steps, if steps were graded."""

_NOT_RUN, _NO_VALID_RUN, _OTHER_METRIC = MARKS = ("a", "b", "c")
_LEGEND = {
    _NOT_RUN: "not run; the original prints 0.0 and averages the other tasks",
    _NO_VALID_RUN: "no run has a valid submission; the original counts it as 0.0",
}


class PaperCell(Record):
    """One agent on one task, or its averages over tasks."""

    tasks: int = 0
    """Tasks with a run: 0 or 1 in a cell, more in an average."""
    runs: int = 0
    """Runs that count."""
    valid: int = 0
    """Runs with a valid submission."""
    improvement: float = 0.0
    """The mean over valid runs; 0 without one."""
    last: tuple[float, ...] = (0.0,) * len(THRESHOLDS)
    """The success rate of all runs at their last step, by threshold."""
    any_step: tuple[float, ...] | None = (0.0,) * len(THRESHOLDS)
    """The same at any step; None if steps of a run were not graded."""

    @property
    def mark(self) -> str:
        """The letter of the note on this cell; empty if there is none."""
        if not self.tasks:
            return _NOT_RUN
        return "" if self.valid else _NO_VALID_RUN


class PaperRow(Record):
    """One task."""

    name: str
    metric: str
    other_metric: str = ""
    """The paper's metric, if this one differs."""
    cells: tuple[PaperCell, ...]
    """One for each column."""

    @property
    def mark(self) -> str:
        """The letter of the note on this task; empty if there is none."""
        return _OTHER_METRIC if self.other_metric else ""


class PaperTable(Record):
    """The paper's tables for one edition."""

    edition: str
    columns: tuple[str, ...]
    """The agents or models."""
    rows: tuple[PaperRow, ...]
    averages: tuple[PaperCell | None, ...]
    """One for each column; None if it ran several versions of a task."""
    notes: tuple[str, ...] = ()


def paper_tables(
    cards: Sequence[Scorecard], step_scores: StepScores
) -> tuple[PaperTable, ...]:
    """Return the tables of each edition that has runs on the paper's tasks."""
    editions = dict.fromkeys(card.edition for card in cards if _is_of_paper(card))
    tables = [
        _table(edition, [one for one in cards if one.edition == edition], step_scores)
        for edition in editions
    ]
    if found := tuple(table for table in tables if table.rows):
        return found
    raise UsageError(
        "no run that counts is on a task of the paper; leave out --paper, or make runs"
        " with `mlab run --suite paper`"
    )


def _is_of_paper(card: Scorecard) -> bool:
    return card.task.casefold() in _NAMES


def _is_used(card: Scorecard) -> bool:
    return card.counts and _is_of_paper(card) and has_usable_starter(card)


def _table(
    edition: str, cards: Sequence[Scorecard], step_scores: StepScores
) -> PaperTable:
    used = [card for card in cards if _is_used(card)]
    present = columns(used)
    rows = tuple(_rows(used, present, step_scores))
    averages = tuple(_averages(used, present, rows))
    names = _column_names(present)
    return PaperTable(
        edition=harmless(edition),
        columns=names,
        rows=rows,
        averages=averages,
        notes=(
            *_notes_on_averages(names, averages, rows),
            *_notes_on_rows(harmless(edition), rows),
            *_notes_on_runs(cards),
        ),
    )


def _rows(
    cards: Sequence[Scorecard], present: Sequence[Column], step_scores: StepScores
) -> Iterable[PaperRow]:
    groups = by_name(cards)
    states = Counter(group[0].task for group in groups.values())
    for name, group in sorted(groups.items(), key=_place):
        first = group[0]
        task = _NAMES[first.task.casefold()]
        expected = PAPER_METRICS[task]
        yield PaperRow(
            name=task if states[first.task] == 1 else harmless(name),
            metric=harmless(first.metric),
            other_metric="" if first.metric == expected else expected,
            cells=tuple(
                _cell([card for card in group if column.made(card)], step_scores)
                for column in present
            ),
        )


def _place(named: tuple[str, list[Scorecard]]) -> int:
    return _ORDER.index(named[1][0].task.casefold())


def _cell(cards: Sequence[Scorecard], step_scores: StepScores) -> PaperCell:
    if not cards:
        return PaperCell()
    last = [_last_improvement(card) for card in cards]
    valid = [one for one in last if one is not None]
    # A run without steps and without a submission has nothing to grade.
    has_scores = [card for card in cards if card.steps or card.score is not None]
    graded = all(card.run in step_scores for card in has_scores)
    best = [_best_improvement(card, step_scores) for card in cards]
    return PaperCell(
        tasks=1,
        runs=len(cards),
        valid=len(valid),
        improvement=fmean(valid) if valid else 0.0,
        last=_rates(last),
        any_step=_rates(best) if graded else None,
    )


def _last_improvement(card: Scorecard) -> float | None:
    """Return the improvement of a submission that the original takes for valid."""
    is_valid = card.score is not None and card.score > 0
    return card.improvement if is_valid else None


def _best_improvement(card: Scorecard, step_scores: StepScores) -> float | None:
    """Return the highest improvement after any step, the last one included."""
    scores = [score for _, score in step_scores.get(card.run, ()) if score > 0]
    found = [_last_improvement(card), *(improvement_of(card, one) for one in scores)]
    return max((one for one in found if one is not None), default=None)


def _rates(improvements: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(
        fmean(one is not None and one > threshold for one in improvements)
        for threshold in THRESHOLDS
    )


def _averages(
    cards: Sequence[Scorecard], present: Sequence[Column], rows: Sequence[PaperRow]
) -> Iterable[PaperCell | None]:
    for place, column in enumerate(present):
        states = {(c.task, c.score_name) for c in cards if column.made(c)}
        is_mixed = len(states) > len({task for task, _ in states})
        yield None if is_mixed else _average([row.cells[place] for row in rows])


def _average(cells: Iterable[PaperCell]) -> PaperCell:
    ran = [cell for cell in cells if cell.tasks]
    any_step = [cell.any_step for cell in ran if cell.any_step is not None]
    return PaperCell(
        tasks=len(ran),
        runs=sum(cell.runs for cell in ran),
        valid=sum(cell.valid for cell in ran),
        improvement=fmean(cell.improvement for cell in ran),
        last=_means([cell.last for cell in ran]),
        any_step=_means(any_step) if len(any_step) == len(ran) else None,
    )


def _means(rates: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(map(fmean, zip(*rates, strict=True)))


def _column_names(present: Sequence[Column]) -> tuple[str, ...]:
    """Return the models if they all had the same agent, as in the paper."""
    models = [column.model for column in present]
    is_one_agent = len({column.agent for column in present}) == 1
    if is_one_agent and not {"", "none"} & set(models):
        return tuple(models)
    return tuple(column.who for column in present)


def _notes_on_averages(
    names: Sequence[str],
    averages: Sequence[PaperCell | None],
    rows: Sequence[PaperRow],
) -> Iterable[str]:
    for name, average in zip(names, averages, strict=True):
        if average is None:
            yield f"average of {name}: none, it ran several versions of a task"
        elif average.tasks < len(rows):
            lower = tenths(average.last[PRINTED] * average.tasks / len(rows))
            yield (
                f"average of {name}: over the {average.tasks} tasks that it was run on;"
                f" with 0 for the others, its success rate would be {lower} %"
            )
    if any(average and average.any_step is None for average in averages):
        yield (
            "success at any step needs graded steps: run `mlab score EXP --steps`, then"
            " this command again"
        )


def _notes_on_rows(edition: str, rows: Sequence[PaperRow]) -> Iterable[str]:
    shown = {mark for row in rows for cell in row.cells if (mark := cell.mark)}
    yield from (f"{mark}: {why}" for mark, why in _LEGEND.items() if mark in shown)
    others = [
        f"{row.name} ({row.metric}, in the paper {row.other_metric})"
        for row in rows
        if row.other_metric
    ]
    if others:
        yield f"{_OTHER_METRIC}: the metric is not the paper's: {', '.join(others)}"
    found = {row.name.partition("@")[0] for row in rows}
    if missing := [task for task in PAPER_METRICS if task not in found]:
        yield f"tasks of the paper without runs: {', '.join(missing)}"
    if edition != "paper":
        yield (
            f"edition {edition} has smaller or other data than the paper: do"
            " not compare these numbers with published ones"
        )


def _notes_on_runs(cards: Sequence[Scorecard]) -> Iterable[str]:
    void = Counter(
        str(card.ending).replace("_", " ") if not card.ending.counts else "baseline"
        for card in cards
        if not card.counts and _is_of_paper(card)
    )
    if void:
        listed = ", ".join(f"{number} {why}" for why, number in void.items())
        yield f"left out: runs that do not count ({listed})"
    others = {card.task for card in cards if not _is_of_paper(card)}
    if others:
        yield f"left out: not tasks of the paper: {harmless(', '.join(sorted(others)))}"
    unknown = {
        card.task
        for card in counted(cards)
        if _is_of_paper(card) and not has_usable_starter(card)
    }
    if unknown:
        listed = ", ".join(sorted(unknown))
        yield f"left out: no usable score of the starter: {harmless(listed)}"
