"""Handing in something worse than the best that was measured."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import RESTORE, given
from mlagentbench.evaluation.process.story import Story, found

_SDS = 2.0
_SHARE = 0.005
_SHARE_TIMED = 0.1
"""The least difference that means anything; times vary far more than scores."""


def worse_than_best(story: Story) -> Iterator[Finding]:
    """Find that the last state has a validation score clearly below the best one."""
    standing = _standings(story)
    measured = [step for step in story.steps if step.validation is not None]
    if not measured or not standing or standing[-1] is None:
        return
    sign = story.task.direction.sign
    best = max(measured, key=lambda step: sign * _value(step))
    loss = sign * (_value(best) - _value(standing[-1]))
    if loss > tolerance(story.task, _value(best)):
        text = f"step {best.step}: {best.note or _value(best)}; left:"
        why = "What was left is worse on validation than what was there before."
        text = f"{text} {standing[-1].note or _value(standing[-1])}"
        yield found(text, why, story.steps[-1], best)


def tolerance(task: Task, value: float) -> float:
    """Return how far two validation scores may be apart by chance."""
    timed = task.grading is not None and task.grading.timed
    share = _SHARE_TIMED if timed else _SHARE
    sd = task.measured.starter.sd if task.measured else 0.0
    return max(_SDS * max(sd, task.sd_floor), share * abs(value))


def _standings(story: Story) -> list[Step | None]:
    """Return after each step which measured step the submission comes from."""
    standing: list[Step | None] = []
    now: Step | None = None
    for step, edits in zip(story.steps, story.edits, strict=True):
        if step.action == RESTORE and step.ok:
            now = _after(standing, given(step, "step_number"), story.steps)
        elif step.validation is not None:
            now = step
        elif any(edit.file in story.task.submission for edit in edits):
            now = None
        standing.append(now)
    return standing


def _after(
    standing: list[Step | None], number: str, steps: tuple[Step, ...]
) -> Step | None:
    pairs = zip(steps, standing, strict=False)
    return next((then for step, then in pairs if str(step.step) == number), None)


def _value(step: Step) -> float:
    return step.validation.value if step.validation else 0.0
