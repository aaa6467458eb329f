"""Reading `EXP` and `EXP:NAME` as people type them."""

from pathlib import Path

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.experiment import Experiment


def select_runs(text: str) -> tuple[Experiment, list[RunId]]:
    """Return the experiment and those of its runs that NAME picks."""
    folder, name = _split(text)
    experiment = Experiment(folder)
    runs = [run for run in experiment.runs() if not name or _named(run, name)]
    if not runs:
        known = ", ".join(str(run) for run in experiment.runs())
        raise UsageError(
            f"{folder} has no run, agent or model '{name}'; it has {known}"
        )
    return experiment, runs


def _split(text: str) -> tuple[Path, str]:
    # A folder's own name may hold a colon, so the longest one that exists wins.
    whole = Path(text)
    if whole.exists():
        return whole, ""
    folder, _, name = text.partition(":")
    if not Path(folder).is_dir():
        raise UsageError(f"there is no experiment {folder}; `mlab run` makes one")
    return Path(folder), name


def _named(run: RunId, name: str) -> bool:
    return name in (str(run), run.agent, run.model, run.task)
