"""What is damaged; fork; prune."""

import os
import shutil
from collections.abc import Iterator

from mlagentbench.core.errors import RecordError, UsageError, blame
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Called, Trace
from mlagentbench.environment.snapshots.store import Pruned, SnapshotStore
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.trace_file import TraceWriter, read_trace


def trace_damage(experiment: Experiment, run: RunId) -> str | None:
    """Return why a run's trace cannot be read, or None; a missing trace is fine."""
    path = experiment.trace(run)
    if not path.exists():
        return None
    try:
        read_trace(path, str(run))
    except RecordError as error:
        return str(error)
    return None


def fork(source: Experiment, run: RunId, step: int, target: Experiment) -> Trace:
    """Make `target` from one run's first `step` steps; resuming it goes on."""
    trace = read_trace(source.trace(run), str(run))
    if not 1 <= step <= len(trace.steps):
        raise UsageError(f"{run} has steps 1 to {len(trace.steps)}, not {step}")
    if target.folder.exists():
        raise UsageError(f"{target.folder} is there already; give another name")
    asked = source.asked
    task = next(one for one in asked.tasks if one.id == run.task)
    target.begin(asked.model_copy(update={"tasks": (task,), "seeds": (run.seed,)}))
    history = trace.model_copy(update={"steps": trace.steps[:step], "calls": ()})
    _write(target, run, history)
    with blame(RecordError, "the snapshots cannot be copied"):
        # Objects are never rewritten, so two experiments may share them.
        shutil.copytree(source.snapshots, target.snapshots, copy_function=os.link)
    return history


def _write(target: Experiment, run: RunId, history: Trace) -> None:
    with TraceWriter(target.trace(run)) as writer:
        for step in history.steps:
            for call in step.calls:
                writer.append(Called(run=str(run), call=call))
            writer.append(step)


def prune(experiment: Experiment) -> Pruned:
    """Keep what the traces need; what a killed run left half-recorded goes."""
    with experiment.held():
        return SnapshotStore(experiment.snapshots).prune(_needed(experiment))


def _needed(experiment: Experiment) -> Iterator[str]:
    for run in experiment.runs():
        for step in read_trace(experiment.trace(run), str(run)).steps:
            if step.snapshot is not None:
                yield step.snapshot
