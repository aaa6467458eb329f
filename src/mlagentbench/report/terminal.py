"""Summaries and comparisons as plain text for the terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean

from mlagentbench.core import (
    Ending,
    Level,
    Record,
    Scorecard,
    first_lines,
    harmless,
)
from mlagentbench.evaluation import (
    Comparison,
    Contrast,
    Estimate,
    TaskPair,
    by_name,
    counted,
    in_words,
    runs_in_words,
    tally,
)
from mlagentbench.report.averages import columns, normalised
from mlagentbench.report.data import ExperimentView, TaskFacts
from mlagentbench.report.number_format import (
    dollars,
    duration,
    hundredths,
    number,
    percent,
    with_unit,
)


def summary_lines(card: Scorecard, facts: TaskFacts) -> list[str]:
    """Return the summary of a run: baselines, test score, results and ending.

    A result that the scorecard does not hold has no line.
    """
    starter = f"not measured: run `mlab measure {card.task}`"
    if card.starter is not None:
        written = with_unit(card.starter.mean, facts.unit)
        starter = f"{written} ({card.metric}, {card.direction} is better)"
        if card.baseline_error is not None:
            starter += ", stale"
    tuned, reference, score = card.tuned, card.reference, card.normalised
    bounds = " to ".join(map(percent, card.improvement_ci or ())).replace(
        " % to", " to"
    )
    found = {
        "starter": starter,
        "tuned": tuned and f"{with_unit(tuned.mean, facts.unit)} (tuning baseline)",
        "reference": reference and with_unit(reference.mean, facts.unit),
        "test score": _score(card, facts),
        "normalised": None
        if score is None
        else f"{hundredths(score)} (0 = starter, 1 = reference)",
        "level": card.level,
        "improvement": percent(card.improvement)
        + (bounds and f" (95 % interval {bounds})"),
        "success": verdict(card),
        "ending": _ending(card),
    }
    lines = [f"{card.run}"]
    lines += [f"  {name:<12} {text}" for name, text in found.items() if text]
    if card.sandbox.unsafe:
        lines.append("  unsafe       ran without isolation; do not compare it")
    return [harmless(line).replace("\n", " ") for line in lines]


OUTCOME_COLUMNS = [
    *("task", "agent", "runs", "mean normalised", "levels", "success"),
    *("mean test score", "mean improvement", "time", "cost", "endings"),
]


def outcome_rows(view: ExperimentView) -> list[list[str]]:
    """Return a row per task and agent; runs that do not count are in no mean."""
    found = []
    groups = by_name(view.cards)
    named = Counter(group[0].task for group in groups.values())
    for name, group in groups.items():
        task = name if named[group[0].task] > 1 else group[0].task
        for column in columns(group):
            cards = list(filter(column.made, group))
            row = _outcome(cards, view.facts(cards[0]))
            found.append([harmless(task), column.who, *row])
    return found


def _outcome(cards: list[Scorecard], facts: TaskFacts) -> list[str]:
    found, scored = tally(cards), normalised(cards)
    average, without = scored.average, scored.without
    scores = [card.score for card in counted(cards) if card.score is not None]
    endings = Counter(card.ending.replace("_", " ") for card in cards)
    unknown = any(card.unpriced for card in cards)
    return [
        str(len(cards)),
        hundredths(average.here.value if average else None)
        + (f" ({without} without)" if average and without else ""),
        levels_text(scored.levels) or "not known",
        f"{found.successes} of {found.runs}",
        with_unit(fmean(scores) if scores else None, facts.unit),
        percent(found.improvement_all),
        duration(sum(card.seconds.total for card in cards)),
        ("at least " if unknown else "")
        + dollars(sum(card.cost_usd for card in cards)),
        ", ".join(f"{count} {ending}" for ending, count in endings.items()),
    ]


_MOST_FAILURES = 5


def failure_lines(cards: Iterable[Scorecard]) -> list[str]:
    """Return a line per reason why runs failed in the agent or the harness."""
    groups: dict[str, list[str]] = {}
    for card in cards:
        if card.ending in (Ending.CRASHED, Ending.PROVIDER_ERROR, Ending.BROKEN):
            why = first_lines(card.reason or "no reason", lines=1, characters=200)
            ending = card.ending.replace("_", " ")
            groups.setdefault(f"{ending}: {why}", []).append(card.run)
    lines = [
        f"{runs[0] if len(runs) == 1 else f'{len(runs)} runs'} {why}"
        for why, runs in groups.items()
    ]
    more = len(lines) - _MOST_FAILURES
    shown = lines[:_MOST_FAILURES] + ([f"{more} more reasons"] if more > 0 else [])
    return [harmless(line).replace("\n", " ") for line in shown]


def levels_text(levels: Mapping[Level, int]) -> str:
    """Write how many runs reached each level, the highest first."""
    found = ((levels.get(level, 0), level) for level in reversed(Level))
    return ", ".join(f"{count} {level}" for count, level in found if count)


def verdict(card: Scorecard) -> str:
    """Return whether a run succeeded, and whether that is significant."""
    if not card.ending.counts:
        return "not counted"
    if card.baseline_error is not None:
        return f"unknown: {card.baseline_error}"
    if not card.success:
        return "no"
    if card.improvement_ci is not None:
        sure = "significant" if card.significant else "not significant"
        return f"yes ({sure}: paired bootstrap against the starter)"
    if card.significant:
        return "yes (significant: outside the starter's 95 % prediction interval)"
    return "yes (not significant: within the starter's 95 % prediction interval)"


def _score(card: Scorecard, facts: TaskFacts) -> str:
    if card.score is not None:
        bounds = " to ".join(map(number, card.score_ci or ()))
        written = with_unit(card.score, facts.unit)
        return f"{written} (95 % interval {bounds})" if bounds else written
    why = first_lines(card.submission_error or "", lines=1, characters=200)
    return f"none: {why}" if why else "none"


def _ending(card: Scorecard) -> str:
    why = first_lines(card.reason or "", lines=1, characters=200)
    steps = "1 step" if card.steps == 1 else f"{card.steps} steps"
    spent = f"{steps}, {duration(card.seconds.total)}"
    ending = card.ending.replace("_", " ")
    return f"{ending}: {why} ({spent})" if why else f"{ending} ({spent})"


SURE_BELOW = 0.05
COLUMNS = [
    *("task", "runs", "success A", "success B", "A - B"),
    *("improvement A", "improvement B"),
]
GAP_COLUMNS = ["gap closed A", "gap closed B", "A - B"]


def comparison_table(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the columns and a row per task; gap_closed leads if it is known."""
    rows = task_rows(found)
    if found.gap_closed is None:
        return COLUMNS, rows
    columns = [*COLUMNS[:2], *GAP_COLUMNS, "success A", "success B", *COLUMNS[5:]]
    return columns, [
        [*row[:2], *_gap_cells(pair), *row[2:4], *row[5:]]
        for pair, row in zip(found.tasks, rows, strict=True)
    ]


def _gap_cells(pair: TaskPair) -> list[str]:
    if pair.gap_closed is None or not all(each.n for each in pair.gap_closed):
        return ["none"] * 3
    a, b = pair.gap_closed
    shares = [f"{100 * each.value:.1f} %" for each in (a, b)]
    return [*shares, _signed(a.value - b.value)]


class Written(Record):
    """A comparison in words."""

    verdict: str
    """Whether the agents differ over tasks, and on these tasks."""
    detectable: str
    """The smallest difference that so many runs could show."""
    measures: tuple[str, ...]
    """Lines on each measure, with differences, intervals and p-values."""
    remarks: tuple[str, ...]
    """Tasks left out, runs that do not count, warnings."""


def written(found: Comparison) -> Written:
    """Return a comparison in words."""
    measures = [
        ("gap_closed", found.gap_closed),
        ("success", found.success),
        ("improvement_all", found.improvement),
    ]
    lead = found.gap_closed or found.success
    return Written(
        verdict=comparison_verdict(found),
        detectable=in_words(lead.detectable) if lead else "",
        measures=tuple(
            line
            for name, each in measures
            if each
            for line in _measure(name, each, found.comparisons)
        ),
        remarks=tuple(remarks(found)),
    )


def task_rows(found: Comparison) -> list[list[str]]:
    """Return one row per task."""
    return [
        [
            pair.task,
            f"{pair.success[0].n}, {pair.success[1].n}",
            *(f"{100 * rate.value:.1f} %" for rate in pair.success),
            _signed(pair.success[0].value - pair.success[1].value),
            *(f"{100 * mean.value:+.1f} %" for mean in pair.improvement),
        ]
        for pair in found.tasks
    ]


def comparison_verdict(found: Comparison) -> str:
    """Return what follows from a comparison, and what does not."""
    contrast = found.gap_closed or found.success
    if contrast is None:
        return "Nothing can be compared: no task has runs of both that count."
    measure = "By gap_closed: " if found.gap_closed else ""
    return f"{measure}{_over_tasks(found, contrast)} {_on_these(found, contrast)}"


def _over_tasks(found: Comparison, contrast: Contrast) -> str:
    runs = runs_in_words(contrast.detectable)
    if contrast.a.tasks == 1:
        return "One task allows no conclusion about other tasks."
    tests = _tests(contrast, found.comparisons)
    if contrast.holm_p < SURE_BELOW:
        ahead = _ahead(found, contrast)
        verb = "separates" if runs == "1 run" else "separate"
        return f"{runs} {verb} them at 5 % over tasks: {ahead} is ahead ({tests})."
    verb = "does" if runs == "1 run" else "do"
    said = f"{runs} {verb} not separate them at 5 % over tasks ({tests})."
    if contrast.least_p >= SURE_BELOW:
        differing = f"{contrast.better + contrast.worse} of {contrast.a.tasks} tasks"
        said += f" They differ on {differing}; no test over tasks can reach 5 % with"
        said += " fewer than 6."
    return said


def _on_these(found: Comparison, contrast: Contrast) -> str:
    tasks = contrast.a.tasks
    where = "On this task" if tasks == 1 else f"On these {tasks} tasks"
    apart = (
        f"{_signed(contrast.difference.value)} points, {_bounds(contrast.difference)},"
        f" {_tested(contrast.runs_p, contrast.runs_holm_p, found.comparisons)}"
    )
    if contrast.runs_holm_p < SURE_BELOW:
        return f"{where} {_ahead(found, contrast)} is significantly ahead ({apart})."
    return f"{where} the difference is not significant ({apart})."


def remarks(found: Comparison) -> list[str]:
    """Return the tasks left out, the runs that do not count, and warnings."""
    said = [f"left out {one.task}: {one.why}" for one in found.left_out]
    if found.gap_closed:
        unknown = found.gap_unknown
        said += [f"without gap_closed {one.task}: {one.why}" for one in unknown]
        if named := ", ".join(found.paired_tasks):
            said.append(f"gap_closed includes the noise of the test set: {named}")
    for letter, agent in (("A", found.a), ("B", found.b)):
        lost = ", ".join(f"{n} {ending}" for ending, n in agent.not_counted.items())
        said += [f"{letter}: runs that do not count: {lost}"] if lost else []
        if agent.unsafe:
            unsafe = f"{agent.unsafe} of {agent.runs} runs"
            said.append(f"{letter}: {unsafe} ran without isolation")
    if found.different_starters:
        named = ", ".join(found.different_starters)
        said.append(f"starter scores differ between runs: {named}")
    return said


def _measure(name: str, contrast: Contrast, comparisons: int) -> list[str]:
    difference = _signed(contrast.difference.value)
    general = contrast.over_tasks
    interval = f"{_bounds(general)}; " if general else ""
    return [
        f"{name}: A {_value(contrast.a)}, B {_value(contrast.b)},"
        f" difference {difference} points",
        f"  on these tasks: {_bounds(contrast.difference)},"
        f" {_tested(contrast.runs_p, contrast.runs_holm_p, comparisons)}",
        f"  over tasks: {interval}A better on {contrast.better}, worse on"
        f" {contrast.worse} of {contrast.a.tasks}; {_tests(contrast, comparisons)}",
    ]


def _tests(contrast: Contrast, comparisons: int) -> str:
    tested = _tested(contrast.permutation_p, contrast.holm_p, comparisons)
    return f"permutation test {tested}"


def _tested(p: float, corrected: float, comparisons: int) -> str:
    if comparisons == 1:
        return f"p = {_p(p)}"
    holm = f"{_p(corrected)} after Holm's correction for {comparisons} comparisons"
    return f"p = {_p(p)}, {holm}"


def _ahead(found: Comparison, contrast: Contrast) -> str:
    return found.a.name if contrast.difference.value > 0 else found.b.name


def _bounds(estimate: Estimate) -> str:
    if not estimate.bounded:
        return "no interval: one run each"
    return f"95 % interval {_signed(estimate.low)} to {_signed(estimate.high)}"


def _value(estimate: Estimate) -> str:
    if not estimate.bounded:
        return f"{100 * estimate.value:.1f} %"
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{100 * estimate.value:.1f} % ({low:.1f} to {high:.1f})"


def _signed(fraction: float) -> str:
    return f"{100 * fraction:+.1f}"


def _p(p: float) -> str:
    return "under 0.001" if p < 0.001 else f"{p:.3f}"
