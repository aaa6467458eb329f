"""Inspect's viewer with the logs of some experiments, as files to put beside a page."""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from inspect_ai.log import bundle_log_dir, read_eval_log_sample_summaries

from mlagentbench.core.errors import RecordError, UsageError, blame
from mlagentbench.core.scorecard import RunId
from mlagentbench.run.experiment import Experiment


def bundle_viewer(
    experiments: Sequence[Experiment], folder: Path, notes: list[str]
) -> dict[str, str]:
    """Make a viewer in `folder`; return where it shows each run, as a relative link.

    It must be served to be read: browsers do not let a page that is a file load others.
    """
    _refuse_foreign(folder)
    with tempfile.TemporaryDirectory(prefix="mlab-logs-") as scratch:
        gathered = Path(scratch) / "logs"
        gathered.mkdir()
        links: dict[str, str] = {}
        for place, experiment in enumerate(experiments, start=1):
            part = f"{place}-{experiment.folder.absolute().name}"
            for run, where in _gather(experiment, gathered / part, notes).items():
                links.setdefault(run, f"{quote(folder.name)}/index.html#/logs/{where}")
        if not any(gathered.iterdir()):
            raise UsageError("there are no logs to bundle: leave --with-traces out")
        _bundle(gathered, folder)
    return links


def _refuse_foreign(folder: Path) -> None:
    """Refuse to replace what is not a viewer: bundling removes what is there."""
    if not folder.exists():
        return
    if not ((folder / "index.html").is_file() and (folder / "logs").is_dir()):
        raise UsageError(f"{folder} is no viewer that could be replaced; remove it")


def _gather(experiment: Experiment, part: Path, notes: list[str]) -> dict[str, str]:
    """Put an experiment's logs into a folder; return each run's place among them."""
    places: dict[str, str] = {}
    runs = {_sample(run): str(run) for run in _runs(experiment)}
    # Names begin with the time: where a run is in several logs, the last has its end.
    for log in sorted(experiment.logs.glob("*.eval")):
        try:
            samples = read_eval_log_sample_summaries(str(log))
        except Exception as error:  # noqa: BLE001  # a log may be damaged in any way
            notes.append(f"{log.name} cannot be read: {type(error).__name__}")
            continue
        part.mkdir(exist_ok=True)
        _link_or_copy(log, part / log.name)
        for sample in samples:
            if str(sample.id) in runs:
                inside = f"samples/sample/{quote(str(sample.id))}/{sample.epoch}/"
                place = f"{quote(part.name)}/{quote(log.name)}/{inside}"
                places[runs[str(sample.id)]] = place
    return places


def _runs(experiment: Experiment) -> list[RunId]:
    try:
        return experiment.runs()
    except (UsageError, RecordError):
        return []


def _sample(run: RunId) -> str:
    return f"{run.task}:{run.seed}"


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _bundle(logs: Path, folder: Path) -> None:
    with (
        blame(RecordError, f"the viewer cannot be written to {folder}"),
        # Inspect tells its progress on standard output, where only results belong.
        contextlib.redirect_stdout(sys.stderr),
    ):
        bundle_log_dir(log_dir=str(logs), output_dir=str(folder), overwrite=True)
