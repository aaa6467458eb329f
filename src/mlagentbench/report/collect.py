"""Collection of a report's data from experiment folders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mlagentbench.core import (
    BenchError,
    Budget,
    RunId,
    Scorecard,
    Task,
    Trace,
    UsageError,
)
from mlagentbench.experiment import (
    Experiment,
    ExperimentSpec,
    missing_opinions,
    read_final_code,
    same_task,
    starter_texts,
)
from mlagentbench.report.data import (
    CodeChanges,
    ExperimentView,
    LeftOut,
    code_changes,
    task_facts,
)
from mlagentbench.tasks import task_digest

_NAMED_AT_MOST = 3


def view_of(experiments: list[Experiment]) -> ExperimentView:
    """Read experiments; whatever cannot be read becomes a note, not a gap."""
    parts = [read_part(experiment) for experiment in experiments]
    owners = _owners(parts)
    own = [(part, owners[place]) for place, part in enumerate(parts)]
    cards = [card for part, runs in own for card in part.cards if card.run in runs]
    tasks = {name: task for part in parts for name, task in part.tasks.items()}
    left_out = list(_left_out(parts, owners))
    return ExperimentView(
        title=parts[0].name if len(parts) == 1 else f"{len(parts)} experiments",
        created=max((card.created for card in cards), default=""),
        cards=tuple(cards),
        tasks=tuple(map(task_facts, tasks.values())),
        traces=tuple(
            trace
            for part, runs in own
            for run, trace in part.traces.items()
            if run in runs
        ),
        step_scores={
            run: tuple((one.step, one.score) for one in scores if one.score is not None)
            for part, runs in own
            for run, scores in part.experiment.step_scores().items()
            if run in runs
        },
        packages=_packages(parts),
        notes=(*(note for part in parts for note in part.notes), *_twice(left_out)),
        asked=tuple(
            {str(run): run for part in parts for run in part.asked_runs}.values()
        ),
        left_out=tuple(left_out),
        code={run: code for part, runs in own for run, code in _code(part, runs)},
        budgets=_budgets(parts),
    )


@dataclass
class Part:
    """One experiment, as far as it can be read."""

    experiment: Experiment
    asked: ExperimentSpec | None
    cards: list[Scorecard]
    notes: list[str]
    runs: list[RunId] = field(default_factory=list)
    """Planned runs, then those that only have a scorecard."""
    tasks: dict[str, Task] = field(default_factory=dict)
    """By `task@version/edition`."""
    traces: dict[str, Trace] = field(default_factory=dict)
    """By run."""

    @property
    def name(self) -> str:
        return self.experiment.folder.absolute().name

    @property
    def asked_runs(self) -> list[RunId]:
        return self.experiment.runs() if self.asked else []

    @property
    def budgets(self) -> dict[str, Budget]:
        tasks = self.asked.tasks if self.asked else ()
        return {f"{one.id}@{one.version}/{one.edition}": one.budget for one in tasks}


def _owners(parts: list[Part]) -> list[set[str]]:
    """Assign each run to the first experiment that holds it."""
    seen: set[str] = set()
    owners: list[set[str]] = []
    for part in parts:
        owners.append({str(run) for run in part.runs} - seen)
        seen |= owners[-1]
    return owners


def _left_out(parts: list[Part], owners: list[set[str]]) -> Iterable[LeftOut]:
    held = list(zip(parts, owners, strict=True))
    first = {run: part.name for part, own in held for run in own}
    for part, own in held:
        for run in map(str, part.runs):
            if run not in own:
                why = f"{part.name} holds it too; the one of {first[run]} is shown"
                yield LeftOut(run=run, why=why)


def _twice(left_out: list[LeftOut]) -> Iterable[str]:
    yield from (f"{one.run}: {one.why}" for one in left_out[:_NAMED_AT_MOST])
    more = len(left_out) - _NAMED_AT_MOST
    if more > 0:
        yield f"{more:,} more runs are in several experiments: see how runs ended"


def _code(part: Part, runs: set[str]) -> Iterable[tuple[str, CodeChanges]]:
    by_id = {task.id: task for task in part.tasks.values()}
    starters = {name: starter_texts(task) for name, task in by_id.items()}
    for run in part.runs:
        trace = part.traces.get(str(run))
        if trace and str(run) in runs and run.task in starters:
            yield str(run), changes_of(part.experiment, run, trace, starters[run.task])


def _budgets(parts: list[Part]) -> dict[str, tuple[Budget, ...]]:
    budgets: dict[str, tuple[Budget, ...]] = {}
    for part in parts:
        for name, budget in part.budgets.items():
            budgets[name] = (*budgets.get(name, ()), budget)
    return budgets


def _packages(parts: list[Part]) -> dict[str, str]:
    versions: dict[str, dict[str, None]] = {}
    for part in parts:
        for package, version in (part.asked.packages if part.asked else {}).items():
            versions.setdefault(package, {})[version] = None
    return {package: " and ".join(found) for package, found in versions.items()}


def read_part(experiment: Experiment) -> Part:
    """Read one experiment; whatever is missing or damaged becomes a note."""
    notes: list[str] = []
    asked = _asked(experiment, notes)
    cards = _cards(experiment, notes)
    part = Part(experiment=experiment, asked=asked, cards=cards, notes=notes)
    named = {str(run): run for run in part.asked_runs}
    for card in cards:
        named.setdefault(card.run, card.run_id)
    part.runs = list(named.values())
    part.tasks = dict(_tasks(part))
    part.traces = dict(_read_traces(part))
    notes += _strangers(part)
    part.notes = [f"{part.name}: {note}" for note in notes]
    return part


def _asked(experiment: Experiment, notes: list[str]) -> ExperimentSpec | None:
    try:
        return experiment.spec
    except (BenchError, OSError) as error:
        anything = (experiment.folder / "scorecards.jsonl", experiment.folder / "trace")
        if isinstance(error, UsageError) and not any(p.exists() for p in anything):
            raise
        notes.append(f"what was asked is not known: {error}")
        return None


def _cards(experiment: Experiment, notes: list[str]) -> list[Scorecard]:
    try:
        cards, warnings = experiment.scorecards, experiment.warnings
    except OSError as error:
        notes.append(f"scorecards.jsonl cannot be read: {error.strerror}")
        return []
    notes += [*warnings, *missing_opinions(experiment)]
    return cards


def _tasks(part: Part) -> Iterable[tuple[str, Task]]:
    for asked in part.asked.tasks if part.asked else ():
        try:
            task = same_task(asked)
        except BenchError as error:
            part.notes.append(str(error))
            continue
        if task_digest(task.folder) != asked.digest:
            part.notes.append(
                f"the task {asked.id} was changed since this experiment began, without"
                " a new version; `mlab score` grades by what it is now"
            )
        yield task.name, task


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
