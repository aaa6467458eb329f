"""Outcomes of runs without times, and experiments as a kill would leave them."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from mlagentbench.core.scorecard import RunId
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import last_attempts


class Outcome(NamedTuple):
    """One run: the same whether or not it was interrupted."""

    steps: list[tuple[Any, ...]]
    submission: dict[str, bytes]
    score: float | None
    ending: str


def outcome_of(experiment: Experiment, run: RunId | None = None) -> Outcome:
    """Return the outcome of a run, or of the only one."""
    run = run or experiment.runs()[0]
    saved = experiment.submission_folder(run)
    card = next(
        card for card in last_attempts(experiment.scorecards) if card.run == str(run)
    )
    return Outcome(
        steps_of(experiment, run),
        {path.name: path.read_bytes() for path in sorted(saved.iterdir())},
        card.score,
        card.ending,
    )


def steps_of(experiment: Experiment, run: RunId) -> list[tuple[Any, ...]]:
    """Return what is recorded of each step, and of each request to its model."""
    steps = experiment.trace(run).steps
    return [
        (
            *(step.step, step.agent_step, step.fields, step.action, step.input),
            *(step.observation, step.ok, step.validation, step.snapshot),
            *(step.spent.steps, step.spent.tokens),
            *(
                (call.role, call.asked_by, call.request_sha, call.usage)
                for call in step.calls
            ),
        )
        for step in steps
    ]


def copy_cut(
    source: Experiment, target: Path, lines: int, extra: bytes = b""
) -> Experiment:
    """Copy an experiment as a kill would leave it after some lines of each trace.

    A negative number of lines is cut from the end. `extra` is a line half written.
    """
    shutil.copytree(source.folder, target)
    shutil.rmtree(target / "submissions")
    (target / "scorecards.jsonl").unlink()
    for trace in (target / "trace").iterdir():
        whole = trace.read_bytes().splitlines(keepends=True)
        trace.write_bytes(b"".join(whole[:lines]) + extra)
    return Experiment(target, source.named)
