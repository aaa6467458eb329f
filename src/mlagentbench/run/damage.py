"""What of an experiment cannot be read any more, and what still can."""

from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.scorecards import last_attempts
from mlagentbench.run.tracefile import read_trace

_FORK = "earlier steps are whole: mlab resume EXP:RUN --from-step K --as NEW"


def damages(experiment: Experiment) -> list[str]:
    """Name every damaged file in one sentence each; nothing where all is well."""
    cards, torn = experiment.scorecards()
    by_run = {card.run: card for card in last_attempts(cards)}
    found = [f"{line}; the other {len(cards)} are whole" for line in torn]
    open_runs = []
    for run in experiment.runs():
        card = by_run.get(str(run))
        if (problem := trace_damage(experiment, run, card)) is not None:
            found.append(problem)
        elif card is None or not card.ending.counts:
            open_runs.append(run)
    return found + _snapshot_damage(experiment, open_runs)


def trace_damage(
    experiment: Experiment, run: RunId, card: Scorecard | None
) -> str | None:
    """Say what is wrong with a run's trace, and what there is beside it."""
    stands = card is not None and card.ending.counts
    rest = "; its scorecard and submission stand" if stands else ""
    path = experiment.trace(run)
    if not path.exists():
        if card is None or card.steps == 0:
            return None
        rest = rest or "; the run begins anew"
        return f"{path} is missing, with {card.steps} steps in it{rest}"
    try:
        read_trace(path, str(run))
    except RecordError as error:
        return f"{error}{rest}"
    return None


def _snapshot_damage(experiment: Experiment, runs: list[RunId]) -> list[str]:
    """Look at snapshots only where a run that was cut off needs one."""
    needed = [run for run in runs if _has_snapshots(experiment, run)]
    if not needed:
        return []
    if not experiment.snapshots.is_dir():
        names = ", ".join(map(str, needed))
        return [
            f"{experiment.snapshots} is missing, so that {names} cannot go on;"
            " what was recorded can be read with `mlab show`"
        ]
    complaints = SnapshotStore(experiment.snapshots).verify()
    return [f"{complaint}; {_FORK}" for complaint in complaints]


def _has_snapshots(experiment: Experiment, run: RunId) -> bool:
    steps = read_trace(experiment.trace(run), str(run)).steps
    return any(step.snapshot is not None for step in steps)
