"""Comparison of two agents on the tasks they share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from mlagentbench.core import (
    STALE_BASELINE,
    Record,
    Scorecard,
    has_usable_starter,
    tell_apart,
)
from mlagentbench.evaluation.statistics.intervals import Estimate, suite_mean, wilson
from mlagentbench.evaluation.statistics.significance import (
    Contrast,
    contrast_means,
    contrast_rates,
    holm,
)
from mlagentbench.evaluation.statistics.tallies import counted, improvement_or_zero


class AgentRuns(Record):
    """One agent with one model, and its runs."""

    name: str
    cards: tuple[Scorecard, ...]


class AgentFacts(Record):
    """The number of an agent's runs, compared or not."""

    name: str
    runs: int
    """Those that count and are compared."""
    not_counted: dict[str, int]
    """By ending: runs that were interrupted or broke through no fault of the agent.
    Runs without a valid baseline are under `stale baseline`."""
    unsafe: int
    """Runs without a sandbox, of those compared."""


class TaskPair(Record):
    """One task of both agents."""

    task: str
    """`task@version/edition`."""
    success: tuple[Estimate, Estimate]
    improvement: tuple[Estimate, Estimate]


class LeftOut(Record):
    """A task that is not compared."""

    task: str
    """`task@version/edition`."""
    why: str


class Comparison(Record):
    """The difference between two agents, by their scorecards."""

    a: AgentFacts
    b: AgentFacts
    tasks: tuple[TaskPair, ...]
    success: Contrast | None
    """None if no task can be compared."""
    improvement: Contrast | None
    left_out: tuple[LeftOut, ...]
    different_starters: tuple[str, ...] = ()
    """Tasks whose runs were measured against different starters."""
    comparisons: int = 1
    """The p-values are corrected for this many comparisons."""


Cells = Mapping[str, Sequence[Scorecard]]
CardsByName = dict[str, list[Scorecard]]


def compare(a: AgentRuns, b: AgentRuns) -> Comparison:
    """Compare two agents on the tasks that both have in one version and edition.

    Runs on task folders with different digests are runs of different tasks.
    """
    cards = tell_apart((*a.cards, *b.cards))
    a = a.model_copy(update={"cards": cards[: len(a.cards)]})
    b = b.model_copy(update={"cards": cards[len(a.cards) :]})
    shared, left_out = common(a, b)
    first, second = shared
    return Comparison(
        a=_facts(a, first),
        b=_facts(b, second),
        tasks=tuple(_pair(task, first[task], second[task]) for task in first),
        success=contrast_rates(*map(_successes, shared)) if first else None,
        improvement=contrast_means(*map(_improvements, shared)) if first else None,
        left_out=tuple(left_out),
        different_starters=tuple(different_starters(first, second)),
    )


def compare_all(agents: Sequence[AgentRuns]) -> tuple[Comparison, ...]:
    """Compare every pair, with the p-values of each measure corrected for all pairs."""
    pairs = [compare(a, b) for a, b in combinations(agents, 2)]
    success = _corrected([pair.success for pair in pairs])
    improvement = _corrected([pair.improvement for pair in pairs])
    return tuple(
        pair.model_copy(
            update={"success": rate, "improvement": mean, "comparisons": len(pairs)}
        )
        for pair, rate, mean in zip(pairs, success, improvement, strict=True)
    )


def _corrected(contrasts: Sequence[Contrast | None]) -> list[Contrast | None]:
    # A pair with no shared task still counts towards Holm's correction, with p = 1.
    tasks = holm([each.permutation_p if each else 1.0 for each in contrasts])
    runs = holm([each.runs_p if each else 1.0 for each in contrasts])
    return [
        each and each.model_copy(update={"holm_p": over, "runs_holm_p": within})
        for each, over, within in zip(contrasts, tasks, runs, strict=True)
    ]


def _facts(agent: AgentRuns, cells: Cells) -> AgentFacts:
    compared = [card for cards in cells.values() for card in cards]
    lost = Counter(
        STALE_BASELINE if card.ending.counts else str(card.ending)
        for card in agent.cards
        if not card.counts
    )
    return AgentFacts(
        name=agent.name,
        runs=len(compared),
        not_counted=dict(lost),
        unsafe=sum(card.sandbox.unsafe for card in compared),
    )


def _pair(task: str, a: Sequence[Scorecard], b: Sequence[Scorecard]) -> TaskPair:
    def rate(runs: Sequence[Scorecard]) -> Estimate:
        return wilson(sum(card.success for card in runs), len(runs))

    def mean(runs: Sequence[Scorecard]) -> Estimate:
        return suite_mean(_improvements({task: runs}))

    return TaskPair(
        task=task, success=(rate(a), rate(b)), improvement=(mean(a), mean(b))
    )


def _successes(cells: Cells) -> dict[str, list[bool]]:
    return {task: [card.success for card in cards] for task, cards in cells.items()}


def _improvements(cells: Cells) -> dict[str, list[float]]:
    return {
        task: [improvement_or_zero(card) for card in cards]
        for task, cards in cells.items()
    }


def by_name(cards: Iterable[Scorecard]) -> CardsByName:
    """Group scorecards that may be averaged: those of one state of a task's edition."""
    cells: CardsByName = {}
    for card in cards:
        cells.setdefault(card.score_name, []).append(card)
    return cells


def common(
    a: AgentRuns, b: AgentRuns
) -> tuple[tuple[CardsByName, CardsByName], list[LeftOut]]:
    """Return both agents' counted runs on shared tasks, and the tasks left out."""
    first, second = by_name(a.cards), by_name(b.cards)
    chosen = _one_form_of_each_task(
        {name: runs[0] for name, runs in first.items() if name in second}
    )
    shared: list[str] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys([*first, *second]):
        why = (
            _lacking(name, a.name, first, second)
            or _lacking(name, b.name, second, first)
            or ("" if name in chosen else "another form of the task is compared")
        )
        if why:
            left_out.append(LeftOut(task=name, why=why))
        else:
            shared.append(name)
    kept = [{name: counted(runs[name]) for name in shared} for runs in (first, second)]
    return (kept[0], kept[1]), left_out


def different_starters(a: CardsByName, b: CardsByName) -> list[str]:
    """Name the shared tasks whose runs were not all measured against one starter."""
    return [
        name for name in a if len({card.starter for card in [*a[name], *b[name]]}) > 1
    ]


def _lacking(name: str, agent: str, cells: CardsByName, others: CardsByName) -> str:
    """Return why a task of an agent cannot be compared; empty if it can."""
    if name not in cells:
        wanted = others[name][0]
        found = {form: runs[0] for form, runs in cells.items()}
        forms = [form for form, card in found.items() if card.task == wanted.task]
        if forms:
            same = any(found[form].task_name == wanted.task_name for form in forms)
            kind = "another state of the task folder" if same else "another task"
            return f"{agent} has it only as {', '.join(forms)}, which is {kind}"
        return f"{agent} has no run of it"
    runs = counted(cells[name])
    if not runs:
        wrong = next(filter(None, (card.baseline_error for card in cells[name])), "")
        why = f"; {STALE_BASELINE}: {wrong}" if wrong else ""
        return f"no run of {agent} on it counts{why}"
    usable = all(map(has_usable_starter, runs))
    return "" if usable else "it has no starter to count improvement from"


def _one_form_of_each_task(forms: Mapping[str, Scorecard]) -> set[str]:
    """Choose the edition that most tasks share, and the newest version of each task.

    `forms` holds any run of each form.
    """
    editions = Counter(card.edition for card in forms.values())
    chosen = [edition for edition, _ in editions.most_common(1)]
    newest = {
        card.task: name
        for name, card in sorted(forms.items(), key=lambda one: one[1].version)
        if card.edition in chosen
    }
    return set(newest.values())
