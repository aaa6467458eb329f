"""Reading `EXP` and `EXP:NAME` as people type them."""

from pathlib import Path

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.experiment import Experiment


def select_runs(text: str) -> tuple[Experiment, list[RunId]]:
    """Return the experiment and those of its runs that NAME picks."""
    folder, name = split(text)
    experiment = Experiment(folder)
    known = experiment.known_runs() or experiment.runs()
    runs = [run for run in known if not name or _named(run, name)]
    if not runs:
        listed = ", ".join(map(str, known))
        raise UsageError(
            f"{folder} has no run, agent or model '{name}'; it has {listed}"
        )
    return experiment, runs


def split(text: str) -> tuple[Path, str]:
    """Return the experiment's folder and NAME, which may be empty."""
    # Folders and models may have colons in their names; the longest folder wins.
    for end in [len(text), *_colons(text)]:
        if Path(text[:end]).is_dir():
            return Path(text[:end]), text[end + 1 :]
    raise UsageError(f"there is no experiment {text}; `mlab run` makes one")


def _colons(text: str) -> list[int]:
    return [place for place in range(len(text) - 1, 0, -1) if text[place] == ":"]


def _named(run: RunId, name: str) -> bool:
    return name in (str(run), run.agent, run.model, run.task)
