"""What a run did and what came of it, without times: the same however it was cut."""

from typing import Any, NamedTuple

from mlagentbench.core.scorecard import RunId
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.scorecard_file import last_attempts


class Story(NamedTuple):
    """One run."""

    steps: list[tuple[Any, ...]]
    submission: dict[str, bytes]
    score: float | None
    ending: str


def story(experiment: Experiment, run: RunId | None = None) -> Story:
    """Tell the story of a run, or of the only one."""
    run = run or experiment.runs()[0]
    saved = experiment.submission_folder(run)
    card = next(
        card for card in last_attempts(experiment.scorecards) if card.run == str(run)
    )
    return Story(
        steps_of(experiment, run),
        {path.name: path.read_bytes() for path in sorted(saved.iterdir())},
        card.score,
        card.ending,
    )


def steps_of(experiment: Experiment, run: RunId) -> list[tuple[Any, ...]]:
    """Return what is recorded of each step, and of what its model was asked."""
    steps = experiment.trace(run).steps
    return [
        (
            *(step.step, step.action, step.input, step.observation, step.ok),
            *(step.validation, step.snapshot, step.spent.steps, step.spent.tokens),
            *((call.request_sha, call.usage) for call in step.calls),
        )
        for step in steps
    ]
