"""Comparison of two agents on the tasks they share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from pydantic import Field

from mlagentbench.core import (
    STALE_BASELINE,
    Record,
    Scorecard,
    Units,
    has_usable_starter,
    tell_apart,
)
from mlagentbench.evaluation.statistics.bootstrap import TaskUnits, paired_error
from mlagentbench.evaluation.statistics.intervals import (
    Error,
    Estimate,
    suite_mean,
    wilson,
)
from mlagentbench.evaluation.statistics.significance import (
    Contrast,
    contrast_means,
    contrast_rates,
    holm,
)
from mlagentbench.evaluation.statistics.tallies import (
    counted,
    gap_closed_or_zero,
    improvement_or_zero,
)


class AgentRuns(Record):
    """One agent with one model, and its runs."""

    name: str
    cards: tuple[Scorecard, ...]
    units: dict[str, Units] = Field(default_factory=dict)
    """By the name of the run; of runs whose graders return them."""


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
    gap_closed: tuple[Estimate, Estimate]
    """Of no runs (`n` is 0) if it is unknown."""
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
    gap_closed: Contrast | None
    """The leading measure. None if it is known of no task."""
    paired_tasks: tuple[str, ...] = ()
    """Tasks whose test-set noise is part of the difference of `gap_closed`."""
    success: Contrast | None
    """None if no task can be compared."""
    improvement: Contrast | None
    left_out: tuple[LeftOut, ...]
    gap_unknown: tuple[LeftOut, ...] = ()
    """Compared tasks that are not part of `gap_closed`."""
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
    unknown = tuple(filter(None, (_gap_unknown(task, shared) for task in first)))
    known = [task for task in first if task not in {one.task for one in unknown}]
    noise = _test_set_noise(known, (a, b), shared)
    return Comparison(
        a=_facts(a, first),
        b=_facts(b, second),
        tasks=tuple(
            _pair(task, first[task], second[task], with_gap=task in known)
            for task in first
        ),
        gap_closed=contrast_means(
            {task: _gaps(first[task]) for task in known},
            {task: _gaps(second[task]) for task in known},
            list(noise.values()),
        )
        if known
        else None,
        paired_tasks=tuple(noise),
        success=contrast_rates(*map(_successes, shared)) if first else None,
        improvement=contrast_means(_improvements(first), _improvements(second))
        if first
        else None,
        left_out=tuple(left_out),
        gap_unknown=unknown,
        different_starters=tuple(different_starters(first, second)),
    )


def compare_all(agents: Sequence[AgentRuns]) -> tuple[Comparison, ...]:
    """Compare every pair, with the p-values of each measure corrected for all pairs."""
    pairs = [compare(a, b) for a, b in combinations(agents, 2)]
    measures = ("gap_closed", "success", "improvement")
    corrected = {
        name: _corrected([getattr(pair, name) for pair in pairs]) for name in measures
    }
    return tuple(
        pair.model_copy(
            update={name: corrected[name][index] for name in measures}
            | {"comparisons": len(pairs)}
        )
        for index, pair in enumerate(pairs)
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


def _gap_unknown(task: str, shared: Sequence[Cells]) -> LeftOut | None:
    """Return why gap_closed of a compared task is unknown; None if it is known."""
    runs = [card for cells in shared for card in cells[task]]
    if all(card.gap_closed is not None for card in runs if card.score is not None):
        return None
    why = "a score has no place between starter and reference"
    return LeftOut(task=task, why=why)


def _test_set_noise(
    tasks: Sequence[str], agents: Sequence[AgentRuns], shared: Sequence[Cells]
) -> dict[str, Error]:
    """Return the error that each test set makes, of tasks that both have units of."""
    found: dict[str, Error] = {}
    for task in tasks:
        sides = [
            _task_units(agent, cells[task])
            for agent, cells in zip(agents, shared, strict=True)
        ]
        if sides[0] and sides[1] and (error := paired_error(sides[0], sides[1])):
            found[task] = error
    return found


def _task_units(agent: AgentRuns, cards: Sequence[Scorecard]) -> TaskUnits | None:
    """Return the units of an agent's runs on a task; None if any are missing."""
    scored = [card for card in cards if card.score is not None]
    units = [agent.units[card.run] for card in scored if card.run in agent.units]
    # In a study, two runs may have the same name.
    distinct = {card.run for card in scored}
    if len(units) < len(scored) or len(distinct) < len(scored):
        return None
    known = cards[0]
    if known.starter is None or known.reference is None:
        return None
    return TaskUnits(
        units=tuple(units),
        runs=len(cards),
        starter=known.starter.mean,
        reference=known.reference.mean,
        scale=known.scale,
    )


def _pair(
    task: str, a: Sequence[Scorecard], b: Sequence[Scorecard], *, with_gap: bool
) -> TaskPair:
    def gap(runs: Sequence[Scorecard]) -> Estimate:
        return suite_mean({task: _gaps(runs)} if with_gap else {})

    def rate(runs: Sequence[Scorecard]) -> Estimate:
        return wilson(sum(card.success for card in runs), len(runs))

    def mean(runs: Sequence[Scorecard]) -> Estimate:
        return suite_mean(_improvements({task: runs}))

    return TaskPair(
        task=task,
        gap_closed=(gap(a), gap(b)),
        success=(rate(a), rate(b)),
        improvement=(mean(a), mean(b)),
    )


def _gaps(cards: Sequence[Scorecard]) -> list[float]:
    return [gap_closed_or_zero(card) for card in cards]


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
