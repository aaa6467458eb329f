"""Dropping snapshots that no trace of an experiment names."""

from collections.abc import Iterator

from mlagentbench.environment.snapshots.store import Pruned, SnapshotStore
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.tracefile import read_trace


def prune(experiment: Experiment) -> Pruned:
    """Keep what the traces need; what a killed run left half-recorded goes."""
    with experiment.held():
        return SnapshotStore(experiment.snapshots).prune(_needed(experiment))


def _needed(experiment: Experiment) -> Iterator[str]:
    for run in experiment.runs():
        for step in read_trace(experiment.trace(run), str(run)).steps:
            if step.snapshot is not None:
                yield step.snapshot
