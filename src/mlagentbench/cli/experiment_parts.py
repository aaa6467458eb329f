"""What one experiment's folder gives to a report; what cannot be read is said."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mlagentbench.core.errors import BenchError, UsageError
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Budget, Task
from mlagentbench.core.trace import Trace
from mlagentbench.run.asked import Asked
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.opinions.ballots import missing_opinions
from mlagentbench.run.preparing import same_task
from mlagentbench.run.step_scores import step_scores_by_run
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.digest import task_digest


@dataclass
class Part:
    """One experiment, as far as it can be read."""

    experiment: Experiment
    asked: Asked | None
    cards: list[Scorecard]
    notes: list[str]
    runs: list[RunId] = field(default_factory=list)
    """Those that were asked for, then those that only have a scorecard."""
    tasks: dict[str, Task] = field(default_factory=dict)
    """By what a score belongs to."""
    traces: dict[str, Trace] = field(default_factory=dict)
    """By run."""

    @property
    def name(self) -> str:
        """What the experiment's folder is called."""
        return self.experiment.folder.absolute().name

    @property
    def asked_runs(self) -> list[RunId]:
        """Every run that was asked for; none where nobody knows."""
        return self.experiment.runs() if self.asked else []

    @property
    def budgets(self) -> dict[str, Budget]:
        """What runs might spend, by what their scores belong to."""
        tasks = self.asked.tasks if self.asked else ()
        return {f"{one.id}@{one.version}/{one.edition}": one.budget for one in tasks}


def read_part(experiment: Experiment) -> Part:
    """Read one experiment back; whatever is missing or damaged becomes a note."""
    notes: list[str] = []
    asked = _asked(experiment, notes)
    cards = _cards(experiment, notes)
    part = Part(experiment=experiment, asked=asked, cards=cards, notes=notes)
    part.runs = _runs(part)
    part.tasks = dict(_tasks(part))
    part.traces = dict(_traces(part))
    notes += _strangers(part)
    part.notes = [f"{part.name}: {note}" for note in notes]
    return part


def step_scores(part: Part) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return what steps scored on held-out data, by run."""
    judged = step_scores_by_run(part.experiment)
    return {
        run: tuple((one.step, one.score) for one in scores if one.score is not None)
        for run, scores in judged.items()
    }


def _asked(experiment: Experiment, notes: list[str]) -> Asked | None:
    try:
        return experiment.asked
    except (BenchError, OSError) as error:
        anything = (experiment.folder / "scorecards.jsonl", experiment.folder / "trace")
        if isinstance(error, UsageError) and not any(p.exists() for p in anything):
            raise
        notes.append(f"what was asked is not known: {error}")
        return None


def _cards(experiment: Experiment, notes: list[str]) -> list[Scorecard]:
    try:
        cards, warnings = experiment.scorecards()
    except OSError as error:
        notes.append(f"scorecards.jsonl cannot be read: {error.strerror}")
        return []
    notes += [*warnings, *missing_opinions(experiment)]
    return cards


def _runs(part: Part) -> list[RunId]:
    named = {str(run): run for run in part.asked_runs}
    for card in part.cards:
        named.setdefault(card.run, card.run_id)
    return list(named.values())


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
                " a new version; `mlab score` judges by what it is now"
            )
        yield task.name, task


def _traces(part: Part) -> Iterable[tuple[str, Trace]]:
    for run in part.runs:
        try:
            trace = read_trace(part.experiment.trace(run), str(run))
        except (BenchError, OSError) as error:
            part.notes.append(str(error))
            continue
        if trace.steps:
            yield str(run), _without_calls(trace)


def _without_calls(trace: Trace) -> Trace:
    """Leave out what models replied: no page shows it, and it is most of the size."""
    steps = tuple(step.model_copy(update={"calls": ()}) for step in trace.steps)
    return trace.model_copy(update={"steps": steps, "calls": ()})


def _strangers(part: Part) -> Iterable[str]:
    known = {part.experiment.trace(run).name for run in part.runs}
    for path in sorted((part.experiment.folder / "trace").glob("*.jsonl")):
        if path.name not in known and ".attempt" not in path.name:
            yield f"trace/{path.name} belongs to no known run and is not shown"
