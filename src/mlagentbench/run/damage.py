"""Damaged traces."""

from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.tracefile import read_trace


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
