"""An experiment's folder put together as what the report shows."""

from mlagentbench.core.errors import BenchError
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.trace import Trace
from mlagentbench.report.view import ExperimentView, TaskFacts, task_facts
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.preparing import same_task
from mlagentbench.run.step_scores import read_step_scores
from mlagentbench.run.tracefile import read_trace


def view_of(experiments: list[Experiment]) -> ExperimentView:
    """Read experiments back; what cannot be read becomes a note, not a gap."""
    notes: list[str] = []
    cards: list[Scorecard] = []
    traces: list[Trace] = []
    facts: dict[str, TaskFacts] = {}
    packages: dict[str, str] = {}
    scores: dict[str, tuple[tuple[int, float], ...]] = {}
    for experiment in experiments:
        found, warnings = experiment.scorecards()
        cards += found
        notes += warnings
        facts |= _facts(experiment, notes)
        packages |= experiment.asked.packages
        traces += _traces(experiment, notes)
        scores |= _step_scores(experiment)
    return ExperimentView(
        title=_title(experiments),
        created=max((card.created for card in cards), default=""),
        cards=tuple(cards),
        tasks=tuple(facts.values()),
        traces=tuple(traces),
        step_scores=scores,
        packages=packages,
        notes=tuple(notes),
    )


def _facts(experiment: Experiment, notes: list[str]) -> dict[str, TaskFacts]:
    facts: dict[str, TaskFacts] = {}
    for asked in experiment.asked.tasks:
        try:
            task = same_task(asked)
        except BenchError as error:
            notes.append(f"{experiment.folder.name}: {error}")
        else:
            facts[task.name] = task_facts(task)
    return facts


def _step_scores(experiment: Experiment) -> dict[str, tuple[tuple[int, float], ...]]:
    judged: dict[str, list[tuple[int, float]]] = {}
    for run in experiment.runs():
        for one in read_step_scores(experiment, run):
            if one.score is not None:
                judged.setdefault(str(run), []).append((one.step, one.score))
    return {run: tuple(scores) for run, scores in judged.items()}


def _title(experiments: list[Experiment]) -> str:
    if len(experiments) == 1:
        return experiments[0].folder.absolute().name
    return f"{len(experiments)} experiments"


def _traces(experiment: Experiment, notes: list[str]) -> list[Trace]:
    traces: list[Trace] = []
    for run in experiment.runs():
        trace = _trace(experiment, run, notes)
        if trace is not None and trace.steps:
            traces.append(trace)
    return traces


def _trace(experiment: Experiment, run: RunId, notes: list[str]) -> Trace | None:
    try:
        return read_trace(experiment.trace(run), str(run))
    except BenchError as error:
        notes.append(str(error))
        return None
