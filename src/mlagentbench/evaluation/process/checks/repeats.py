"""The same action on the same input again, though nothing has changed since."""

import json
from collections.abc import Iterator, Sequence

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import (
    FINAL,
    LOG,
    RESTORE,
    TARGET,
    UNDO,
    executes,
)
from mlagentbench.evaluation.process.checks.replies import is_format_error
from mlagentbench.evaluation.process.story import Story, found

LONGEST_PERIOD = 3
ROUNDS = 3
"""A loop is seen when its third round is done, even if each round changes files."""


def repeated_actions(story: Story) -> Iterator[Finding]:
    """Find actions that could not bring anything new."""
    last: dict[str, int] = {}
    keys: list[str] = []
    changed = logged = -1
    for index, step in enumerate(story.steps):
        key = _key(step)
        keys.append(key)
        if is_format_error(step):
            continue
        before = last.get(key)
        if step.error == "pointless":
            yield found(key, f"It was turned down: {step.observation[:120]}", step)
        elif before is not None and _is_idle(
            story, index, unchanged=before >= (changed if executes(step) else logged)
        ):
            why = f"Step {story.steps[before].step} did the same, and nothing changed."
            yield found(key, why, step, story.steps[before])
        elif period := _loop(keys, story.steps):
            why = f"A loop of {period} actions goes round for the third time or more."
            yield found(key, why, step, story.steps[index - period])
        last[key] = index
        if _changes_something(story, index):
            changed = logged = index
        elif step.action == LOG:
            logged = index


def _key(step: Step) -> str:
    text = json.dumps(step.input, sort_keys=True, default=str)
    return f"{step.action} {text}"


def _is_idle(story: Story, index: int, *, unchanged: bool) -> bool:
    """Tell whether a step that was taken before cannot bring anything this time."""
    step = story.steps[index]
    if step.action in {FINAL, RESTORE}:
        return False
    if step.action in TARGET and step.ok:
        return not story.edits[index]
    return unchanged


def _changes_something(story: Story, index: int) -> bool:
    step = story.steps[index]
    if step.action == RESTORE or (step.action in TARGET and story.edits[index]):
        return step.ok
    return executes(step) and _left_other_files(story, index)


def _left_other_files(story: Story, index: int) -> bool:
    if index == 0:
        return True
    before, after = story.steps[index - 1].snapshot, story.steps[index].snapshot
    return before is None or after is None or before != after


def _loop(keys: Sequence[str], steps: Sequence[Step]) -> int:
    """Return the length of the loop that the last keys go round in; 0 for none."""
    for period in range(1, LONGEST_PERIOD + 1):
        last = list(keys[-period * ROUNDS :])
        undoing = period == 1 and steps[len(keys) - 1].action == UNDO
        if len(last) == period * ROUNDS and last == last[:period] * ROUNDS:
            return 0 if undoing else period
    return 0
