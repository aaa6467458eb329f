"""Collection of a report's data from experiment folders."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from mlagentbench.core import (
    BenchError,
    Budget,
    Names,
    RunId,
    Scorecard,
    Task,
    Trace,
    UsageError,
    names_apart,
    stale_baselines,
    tell_apart,
)
from mlagentbench.experiment import (
    Experiment,
    ExperimentSpec,
    TaskSpec,
    missing_opinions,
    read_final_code,
    same_task,
    starter_texts,
)
from mlagentbench.report.data import (
    CodeChanges,
    ExperimentView,
    LeftOut,
    MissingRun,
    TaskFacts,
    code_changes,
    task_facts,
)

_NAMED_AT_MOST = 3


def view_of(
    experiments: Sequence[Experiment],
    *,
    title: str = "",
    missing: Sequence[MissingRun] = (),
) -> ExperimentView:
    """Read experiments; whatever cannot be read becomes a note, not a gap.

    Every run is shown once. A run that has the id of another one is named by its
    experiment, too. `missing` are runs of a study that have no experiment yet.
    """
    names = _experiment_names(experiments)
    # The experiments of a study share their tasks.
    paths = [path for one in experiments for path in one.named.task_paths]
    paths = list(dict.fromkeys(paths))
    load, starter = cache(lambda spec: same_task(spec, paths)), cache(starter_texts)
    parts = [
        read_part(one, name, load) for one, name in zip(experiments, names, strict=True)
    ]
    left_out = _name_runs(parts)
    absent = _name_missing(parts, missing)
    agents = names_apart(
        [
            *(one for part in parts for one in part.agents),
            *((one.run.agent, one.agent_digest) for one in missing),
        ]
    )
    tasks = names_apart(one for part in parts for one in part.task_states)
    shown = [card for part in parts for card in part.shown_cards]
    reasons = {name: one.why for name, one in absent.items()}
    cards = tell_apart(shown, agents, tasks)
    return ExperimentView(
        title=title
        or (parts[0].name if len(parts) == 1 else f"{len(parts)} experiments"),
        created=max((card.created for card in cards), default=""),
        cards=cards,
        tasks=_facts(parts, tasks),
        traces=tuple(
            trace.model_copy(update={"run": part.shown[run]})
            for part in parts
            for run, trace in part.traces.items()
            if run in part.shown
        ),
        step_scores={
            part.shown[run]: tuple(
                (one.step, one.score) for one in scores if one.score is not None
            )
            for part in parts
            for run, scores in part.experiment.step_scores().items()
            if run in part.shown
        },
        packages=_packages(parts),
        notes=(
            *filter(
                None, [missing_note(reasons, sum(len(part.shown) for part in parts))]
            ),
            *_distinct_notes(parts),
            *_twice(left_out),
            *stale_baselines(cards),
        ),
        asked={
            part.shown[str(run)]: run.model_copy(update={"agent": agents[agent]})
            for part in parts
            for run, agent in part.planned
            if str(run) in part.shown
        }
        | {
            name: one.run.model_copy(
                update={"agent": agents[one.run.agent, one.agent_digest]}
            )
            for name, one in absent.items()
        },
        experiments={
            name: part.name
            for part in parts
            for name in part.shown.values()
            if len(parts) > 1
        },
        left_out=tuple(left_out),
        missing=reasons,
        code={name: code for part in parts for name, code in _code(part, starter)},
        budgets=_budgets(parts, tasks),
    )


@dataclass
class Part:
    """One experiment, as far as it can be read."""

    experiment: Experiment
    name: str
    asked: ExperimentSpec | None
    cards: list[Scorecard]
    notes: list[str]
    runs: list[RunId] = field(default_factory=list)
    """Planned runs, then those that only have a scorecard."""
    tasks: dict[tuple[str, str], Task] = field(default_factory=dict)
    """By `task@version/edition` and the digest of the folder."""
    traces: dict[str, Trace] = field(default_factory=dict)
    """By run."""
    shown: dict[str, str] = field(default_factory=dict)
    """By run: its name on the page. Copies of other runs are missing."""

    @property
    def planned(self) -> list[tuple[RunId, tuple[str, str]]]:
        """Every planned run, with the name and the digest of its agent."""
        if self.asked is None:
            return []
        digest = self.asked.agent_digest
        return [(run, (run.agent, digest)) for run in self.asked.runs]

    @property
    def agents(self) -> list[tuple[str, str]]:
        """The name and the digest of every agent."""
        ran = [(card.agent, card.agent_digest) for card in self.cards]
        return [*(agent for _, agent in self.planned), *ran]

    @property
    def budgets(self) -> dict[tuple[str, str], Budget]:
        """By `task@version/edition` and the digest of the folder."""
        tasks = self.asked.tasks if self.asked else ()
        return {(one.name, one.digest): one.budget for one in tasks}

    @property
    def task_states(self) -> list[tuple[str, str]]:
        """The name and the digest of every task folder."""
        graded = [(card.task_name, card.task_digest) for card in self.cards]
        return [*self.budgets, *graded]

    @property
    def shown_cards(self) -> list[Scorecard]:
        """The scorecards of shown runs, under their names on the page."""
        return [
            card.model_copy(update={"run": self.shown[card.run]})
            for card in self.cards
            if card.run in self.shown
        ]

    def record(self, run: str) -> object:
        """Return what tells a run from others of the same id."""
        started = self.asked.started if self.asked else ""
        cards = [card for card in self.cards if card.run == run]
        return started, self.traces.get(run) or cards


def _experiment_names(experiments: Sequence[Experiment]) -> list[str]:
    """Return the name of each folder, or its path if several have the name."""
    names = [one.folder.absolute().name for one in experiments]
    count = Counter(names)
    return [
        name if count[name] == 1 else str(one.folder)
        for name, one in zip(names, experiments, strict=True)
    ]


def _name_runs(parts: list[Part]) -> list[LeftOut]:
    """Name the runs of every experiment on the page; return the copies of others."""
    holders: dict[str, list[Part]] = {}
    left_out: list[LeftOut] = []
    for part in parts:
        for run in map(str, part.runs):
            others = holders.setdefault(run, [])
            same = [one for one in others if one.record(run) == part.record(run)]
            if same:
                why = f"also in {part.name}; the one of {same[0].name} is shown"
                left_out.append(LeftOut(run=run, why=why))
            else:
                others.append(part)
    for run, holding in holders.items():
        for part in holding:
            part.shown[run] = run if len(holding) == 1 else f"{run} in {part.name}"
    return left_out


def _name_missing(
    parts: list[Part], missing: Sequence[MissingRun]
) -> dict[str, MissingRun]:
    """Name runs without a result on the page, as `_name_runs` does for the others."""
    named: dict[str, MissingRun] = {}
    taken = {run for part in parts for run in part.shown}
    for one in missing:
        run = str(one.run)
        named[f"{run} in {one.experiment}" if run in taken else run] = one
        taken.add(run)
    return named


def missing_note(missing: Mapping[str, str], found: int) -> str:
    """Name runs without a result, with the reasons; empty if there are none."""
    if not missing:
        return ""
    shown = [f"{run} ({why})" for run, why in missing.items()][:_NAMED_AT_MOST]
    more = len(missing) - len(shown)
    rest = f" and {more:,} more" if more else ""
    total = len(missing) + found
    return (
        f"{len(missing):,} of {total:,} runs have no result yet:"
        f" {', '.join(shown)}{rest}"
    )


def _distinct_notes(parts: list[Part]) -> Iterable[str]:
    """Return every note with its experiment; a note of many names the first."""
    holders: dict[str, list[str]] = {}
    for part in parts:
        for note in part.notes:
            holders.setdefault(note, []).append(part.name)
    for note, names in holders.items():
        if len(names) <= _NAMED_AT_MOST:
            yield from (f"{name}: {note}" for name in names)
        else:
            yield f"{names[0]} and {len(names) - 1:,} more experiments: {note}"


def _twice(left_out: list[LeftOut]) -> Iterable[str]:
    yield from (f"{one.run}: {one.why}" for one in left_out[:_NAMED_AT_MOST])
    more = len(left_out) - _NAMED_AT_MOST
    if more > 0:
        yield f"{more:,} more runs are in several experiments, see How runs ended"


def _facts(parts: list[Part], names: Names) -> tuple[TaskFacts, ...]:
    found = {
        names[state]: task_facts(task).model_copy(update={"name": names[state]})
        for part in parts
        for state, task in part.tasks.items()
    }
    return tuple(found.values())


def _code(
    part: Part, starter: Callable[[Task], Mapping[str, str]]
) -> Iterable[tuple[str, CodeChanges]]:
    by_id = {task.id: task for task in part.tasks.values()}
    starters = {name: starter(task) for name, task in by_id.items()}
    for run in part.runs:
        trace, name = part.traces.get(str(run)), part.shown.get(str(run))
        if trace and name and run.task in starters:
            yield name, changes_of(part.experiment, run, trace, starters[run.task])


def _budgets(parts: list[Part], names: Names) -> dict[str, tuple[Budget, ...]]:
    budgets: dict[str, tuple[Budget, ...]] = {}
    for part in parts:
        for state, budget in part.budgets.items():
            name = names[state]
            budgets[name] = (*budgets.get(name, ()), budget)
    return budgets


def _packages(parts: list[Part]) -> dict[str, str]:
    versions: dict[str, dict[str, None]] = {}
    for part in parts:
        for package, version in (part.asked.packages if part.asked else {}).items():
            versions.setdefault(package, {})[version] = None
    return {package: " and ".join(found) for package, found in versions.items()}


def read_part(
    experiment: Experiment, name: str, load: Callable[[TaskSpec], Task]
) -> Part:
    """Read one experiment; whatever is missing or damaged becomes a note."""
    notes: list[str] = []
    asked = _asked(experiment, notes)
    cards = _cards(experiment, notes)
    part = Part(experiment, name, asked, cards, notes)
    named = {str(run): run for run, _ in part.planned}
    for card in cards:
        named.setdefault(card.run, card.run_id)
    part.runs = list(named.values())
    part.tasks = dict(_tasks(part, load))
    part.traces = dict(_read_traces(part))
    notes += _strangers(part)
    return part


def _asked(experiment: Experiment, notes: list[str]) -> ExperimentSpec | None:
    try:
        return experiment.spec
    except (BenchError, OSError) as error:
        anything = (experiment.folder / "scorecards.jsonl", experiment.folder / "trace")
        if isinstance(error, UsageError) and not any(p.exists() for p in anything):
            raise
        notes.append(f"the plan cannot be read: {error}")
        return None


def _cards(experiment: Experiment, notes: list[str]) -> list[Scorecard]:
    try:
        cards, warnings = experiment.scorecards, experiment.warnings
    except (BenchError, OSError) as error:
        notes.append(str(error))
        return []
    notes += [*warnings, *missing_opinions(experiment)]
    return cards


def _tasks(
    part: Part, load: Callable[[TaskSpec], Task]
) -> Iterable[tuple[tuple[str, str], Task]]:
    for asked in part.asked.tasks if part.asked else ():
        try:
            task = load(asked)
        except BenchError as error:
            part.notes.append(str(error))
            continue
        if task.digest != asked.digest:
            part.notes.append(
                f"the task {asked.id} was changed since the experiment started, without"
                " a new version; its runs keep their scores, but `mlab score` would"
                " grade them without a baseline"
            )
        yield (task.name, asked.digest), task


def _read_traces(part: Part) -> Iterable[tuple[str, Trace]]:
    for run in part.runs:
        try:
            trace = part.experiment.trace(run)
        except (BenchError, OSError) as error:
            part.notes.append(str(error))
            continue
        if trace.steps:
            # No page shows the replies of models, and they are most of the size.
            steps = tuple(step.model_copy(update={"calls": ()}) for step in trace.steps)
            yield str(run), trace.model_copy(update={"steps": steps, "calls": ()})


def _strangers(part: Part) -> Iterable[str]:
    known = {part.experiment.trace_path(run).name for run in part.runs}
    for path in sorted((part.experiment.folder / "trace").glob("*.jsonl")):
        if path.name not in known and ".attempt" not in path.name:
            yield f"trace/{path.name} belongs to no known run and is not shown"


def changes_of(
    experiment: Experiment, run: RunId, trace: Trace, starter: Mapping[str, str]
) -> CodeChanges:
    """Compare a run's last workspace, or its submission, with the starter."""
    folder = experiment.submission_folder(run)
    found = read_final_code(experiment.snapshots, folder, trace, starter)
    return CodeChanges(
        files=code_changes(starter, found.texts, whole=found.whole),
        others=found.others,
        note=found.note,
    )
