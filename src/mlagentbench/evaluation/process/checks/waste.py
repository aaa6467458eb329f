"""What was the last tenth of the budget good for?"""

import math
from collections.abc import Iterator

from mlagentbench.core.ending import Ending
from mlagentbench.core.finding import Finding
from mlagentbench.core.task import Budget
from mlagentbench.core.trace import Spent, Step
from mlagentbench.evaluation.process.acts import FINAL, RESTORE, TARGET
from mlagentbench.evaluation.process.story import Story, found

LAST_PART = 0.9
AT_LEAST = 3
"""Fewer steps than these are no waste."""
_USED_UP = frozenset({Ending.OUT_OF_TIME, Ending.OUT_OF_TOKENS, Ending.OUT_OF_COST})
_CLOSING = frozenset({FINAL, RESTORE, "Check Submission"})


def wasted_budget(story: Story) -> Iterator[Finding]:
    """Find that the last tenth brought no measured improvement at all."""
    last = _last_tenth(story)
    if not last:
        yield from _came_to_no_step(story)
        return
    first = story.steps.index(last[0])
    best = _best(story, story.steps[:first])
    if any(_improves(story, step, best) for step in last):
        return
    working = _working(last, story, best)
    if (
        len(working) >= AT_LEAST
        or (working and best == -math.inf)
        or _failed_for_long(working, story.task.budget)
    ):
        shown = ", ".join(
            f"{step.action}{'' if step.ok else ' (failed)'}" for step in last
        )
        why = "The last tenth of the budget brought no measured improvement."
        yield found(shown, why, story.steps[-1], *working[:3])


def _came_to_no_step(story: Story) -> Iterator[Finding]:
    """Find that replies which led to no step took the last tenth, and more."""
    if story.ending in _USED_UP and story.steps:
        why = "What was asked for after this step used up the budget and did nothing."
        yield found(story.steps[-1].action, why, story.steps[-1])


def _last_tenth(story: Story) -> list[Step]:
    budget = story.task.budget
    late = [step for step in story.steps if _share(step.spent, budget) > LAST_PART]
    if late and late[-1].spent.steps > LAST_PART * budget.steps:
        return list(story.steps[-max(len(late), AT_LEAST) :])
    return late


def _share(spent: Spent, budget: Budget) -> float:
    shares = [spent.steps / budget.steps, spent.seconds / (60 * budget.minutes)]
    if budget.tokens:
        shares.append(spent.tokens / budget.tokens)
    if budget.cost_usd:
        shares.append(spent.cost / budget.cost_usd)
    return max(shares)


def _best(story: Story, steps: tuple[Step, ...]) -> float:
    sign = story.task.direction.sign
    values = [sign * step.validation.value for step in steps if step.validation]
    return max(values, default=-math.inf)


def _improves(story: Story, step: Step, best: float) -> bool:
    sign = story.task.direction.sign
    return step.validation is not None and sign * step.validation.value > best


def _working(last: list[Step], story: Story, best: float) -> list[Step]:
    """Return the steps before the closing ones: putting the best back, and the end."""
    end = len(last)
    while end and (_closes(last[end - 1], story, best) or _prepares(last, end)):
        end -= 1
    return last[:end]


def _prepares(last: list[Step], end: int) -> bool:
    """Tell whether a step only writes what a closing step executes."""
    return end < len(last) and last[end - 1].action in TARGET


def _closes(step: Step, story: Story, best: float) -> bool:
    """Tell whether a step only puts the best in place, or ends the run."""
    if step.action in _CLOSING:
        return True
    value = step.validation.value if step.validation else math.nan
    return story.task.direction.sign * value == best


def _failed_for_long(working: list[Step], budget: Budget) -> bool:
    long = (1 - LAST_PART) * 60 * budget.minutes
    failed = [step.seconds for step in working if not step.ok]
    return sum(seconds.model + seconds.execute for seconds in failed) > long
