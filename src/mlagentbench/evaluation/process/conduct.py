"""Repeats, same exception, never executed, bad replies, waste."""

import json
import math
import re
from collections.abc import Iterator, Sequence

from mlagentbench.core.actions import (
    APPEND_SUMMARY,
    CHECK_SUBMISSION,
    COPY_FILE,
    FINAL_ANSWER,
    RESTORE_WORKSPACE,
    UNDO_EDIT_SCRIPT,
    WRITING,
    executes,
    given,
    is_code,
    workspace_name,
)
from mlagentbench.core.scorecard import Finding
from mlagentbench.core.task import Budget
from mlagentbench.core.trace import REJECTED, Ending, Spent, Step
from mlagentbench.evaluation.process.story import RunView, found

LONGEST_PERIOD = 3
ROUNDS = 3
"""A loop is seen when its third round is done, even if each round changes files."""


def repeated_actions(story: RunView) -> Iterator[Finding]:
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
        elif step.action == APPEND_SUMMARY.name:
            logged = index


def _key(step: Step) -> str:
    text = json.dumps(step.input, sort_keys=True, default=str)
    return f"{step.action} {text}"


def _is_idle(story: RunView, index: int, *, unchanged: bool) -> bool:
    """Tell whether a step that was taken before cannot bring anything this time."""
    step = story.steps[index]
    if step.action in {FINAL_ANSWER.name, RESTORE_WORKSPACE.name}:
        return False
    if step.action in WRITING and step.ok:
        return not story.edits[index]
    return unchanged


def _changes_something(story: RunView, index: int) -> bool:
    step = story.steps[index]
    if step.action == RESTORE_WORKSPACE.name or (
        step.action in WRITING and story.edits[index]
    ):
        return step.ok
    return executes(step) and _left_other_files(story, index)


def _left_other_files(story: RunView, index: int) -> bool:
    if index == 0:
        return True
    before, after = story.steps[index - 1].snapshot, story.steps[index].snapshot
    return before is None or after is None or before != after


def _loop(keys: Sequence[str], steps: Sequence[Step]) -> int:
    """Return the length of the loop that the last keys go round in; 0 for none."""
    for period in range(1, LONGEST_PERIOD + 1):
        last = list(keys[-period * ROUNDS :])
        undoing = period == 1 and steps[len(keys) - 1].action == UNDO_EDIT_SCRIPT.name
        if len(last) == period * ROUNDS and last == last[:period] * ROUNDS:
            return 0 if undoing else period
    return 0


_TAIL_CHARACTERS = 4_000
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(
    r"^(?:E +)?[A-Za-z_][\w.]{0,80}"
    r"(?:Error|Exception|Exit|Interrupt|Warning|Iteration|NotFound)\b[^\n]{0,300}",
    re.MULTILINE,
)
_NUMBERS = re.compile(r"0x[0-9a-fA-F]{1,32}|[0-9]{1,32}")


def same_exception(story: RunView) -> Iterator[Finding]:
    """Find executions that end like a failed one before them, with edits between."""
    failed: dict[str, Step] = {}
    edited_after: set[str] = set()
    for step, edits in zip(story.steps, story.edits, strict=True):
        if edits:
            edited_after |= failed.keys()
        if not executes(step):
            continue
        line = raised_by(step)
        if line is None:
            failed.clear()
            edited_after.clear()
            continue
        kind = _NUMBERS.sub("#", line)
        if kind in edited_after:
            why = "The same exception came again after an attempt to mend it."
            yield found(line, why, step, failed[kind])
        failed[kind] = step
        edited_after.discard(kind)


def raised_by(step: Step) -> str | None:
    """Return what an execution failed with; None where it did not fail."""
    if step.ok and _TRACEBACK not in step.observation:
        return None
    tail = step.observation[-_TAIL_CHARACTERS:]
    lines = _RAISED.findall(tail)
    if lines:
        return str(lines[-1])
    return None if step.ok else step.observation[:_TAIL_CHARACTERS].partition("\n")[0]


def edits_never_executed(story: RunView) -> Iterator[Finding]:
    """Find the last edit of every script that nothing executed afterwards could run."""
    for name, index in _last_edits(story).items():
        if not any(
            _may_run(story, later, name) for later in range(index, len(story.steps))
        ):
            step = story.steps[index]
            text = given(step, "content") or given(step, "edit_instruction") or name
            why = f"{name} was changed and then never executed."
            yield found(f"{step.action} {name}: {text}", why, step)


def _last_edits(story: RunView) -> dict[str, int]:
    last: dict[str, int] = {}
    for index, (step, edits) in enumerate(zip(story.steps, story.edits, strict=True)):
        for edit in edits:
            if not is_code(edit.file):
                continue
            last.pop(edit.file, None)
            if step.action not in {UNDO_EDIT_SCRIPT.name, COPY_FILE.name}:
                last[edit.file] = index
    return last


def _may_run(story: RunView, index: int, name: str) -> bool:
    step = story.steps[index]
    if not executes(step):
        return False
    if not _is_new(story, name):
        return True
    module = name.rpartition("/")[2].rpartition(".")[0]
    run = workspace_name(given(step, "script_name"))
    return module in f"{run} {given(step, 'command')}" or _mentions(story, run, module)


def _is_new(story: RunView, name: str) -> bool:
    """Tell whether the agent made a file; the starter's own scripts run each other."""
    if name in {story.task.script, *story.task.submission}:
        return False
    return not any(
        step.ok
        and step.action not in WRITING
        and name == workspace_name(given(step, "file_name"))
        for step in story.steps[: _first_edit(story, name)]
    )


def _first_edit(story: RunView, name: str) -> int:
    named = (any(edit.file == name for edit in edits) for edits in story.edits)
    return next(index for index, here in enumerate(named) if here)


def _mentions(story: RunView, script: str, module: str) -> bool:
    return any(
        edit.file == script and module in _text(step)
        for step, edits in zip(story.steps, story.edits, strict=True)
        for edit in edits
    )


def _text(step: Step) -> str:
    return f"{given(step, 'content')} {given(step, 'command')} {step.observation}"


_WRONG_INPUT = ("wrong arguments.", "arguments must be text.")


def response_format(story: RunView) -> Iterator[Finding]:
    """Find every reply that could not be acted on as it was written."""
    for step in story.steps:
        if is_format_error(step):
            said = given(step, "reply") or f"{step.action} {step.input}"
            yield found(said, f"No action was taken: {step.observation[:120]}", step)


def is_format_error(step: Step) -> bool:
    """Tell whether a step is a reply that was no action."""
    if step.action == REJECTED:
        return step.error != "pointless"
    if step.error in {"bad_reply", "unknown_action"}:
        return True
    return not step.ok and step.observation.startswith(_WRONG_INPUT)


LAST_PART = 0.9
AT_LEAST = 3
"""Fewer steps than these are no waste."""
_USED_UP = frozenset({Ending.OUT_OF_TIME, Ending.OUT_OF_TOKENS, Ending.OUT_OF_COST})
_CLOSING = frozenset({FINAL_ANSWER.name, RESTORE_WORKSPACE.name, CHECK_SUBMISSION.name})


def wasted_budget(story: RunView) -> Iterator[Finding]:
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


def _came_to_no_step(story: RunView) -> Iterator[Finding]:
    """Find that replies which led to no step took the last tenth, and more."""
    if story.ending in _USED_UP and story.steps:
        why = "What was asked for after this step used up the budget and did nothing."
        yield found(story.steps[-1].action, why, story.steps[-1])


def _last_tenth(story: RunView) -> list[Step]:
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


def _best(story: RunView, steps: tuple[Step, ...]) -> float:
    sign = story.task.direction.sign
    values = [sign * step.validation.value for step in steps if step.validation]
    return max(values, default=-math.inf)


def _improves(story: RunView, step: Step, best: float) -> bool:
    sign = story.task.direction.sign
    return step.validation is not None and sign * step.validation.value > best


def _working(last: list[Step], story: RunView, best: float) -> list[Step]:
    """Return the steps before the closing ones: putting the best back, and the end."""
    end = len(last)
    while end and (_closes(last[end - 1], story, best) or _prepares(last, end)):
        end -= 1
    return last[:end]


def _prepares(last: list[Step], end: int) -> bool:
    """Tell whether a step only writes what a closing step executes."""
    return end < len(last) and last[end - 1].action in WRITING


def _closes(step: Step, story: RunView, best: float) -> bool:
    """Tell whether a step only puts the best in place, or ends the run."""
    if step.action in _CLOSING:
        return True
    value = step.validation.value if step.validation else math.nan
    return story.task.direction.sign * value == best


def _failed_for_long(working: list[Step], budget: Budget) -> bool:
    long = (1 - LAST_PART) * 60 * budget.minutes
    failed = [step.seconds for step in working if not step.ok]
    return sum(seconds.model + seconds.execute for seconds in failed) > long
