"""Checks of conduct: repeats, exceptions, unexecuted edits, bad replies, waste."""

import json
import math
import re
from collections.abc import Iterator, Sequence

from mlagentbench.core import (
    APPEND_SUMMARY,
    CHECK_SUBMISSION,
    COPY_FILE,
    FINAL_ANSWER,
    REJECTED,
    RESTORE_WORKSPACE,
    UNDO_EDIT_SCRIPT,
    WRITING,
    Budget,
    Ending,
    Finding,
    Spent,
    Step,
    executes,
    given,
    is_code,
    workspace_name,
)
from mlagentbench.evaluation.process.run_view import RunView, found

LONGEST_PERIOD = 3
ROUNDS = 3
"""A loop is reported at its third round, even if each round changes files."""


def repeated_actions(view: RunView) -> Iterator[Finding]:
    """Find actions that could not lead to anything new."""
    last: dict[str, int] = {}
    keys: list[str] = []
    changed = logged = -1
    for index, step in enumerate(view.steps):
        key = f"{step.action} {json.dumps(step.input, sort_keys=True, default=str)}"
        keys.append(key)
        if is_format_error(step):
            continue
        before = last.get(key)
        if step.error == "pointless":
            yield found(key, f"It was turned down: {step.observation[:120]}", step)
        elif before is not None and _is_idle(
            view, index, unchanged=before >= (changed if executes(step) else logged)
        ):
            why = f"Step {view.steps[before].step} did the same, and nothing changed."
            yield found(key, why, step, view.steps[before])
        elif period := _loop(keys, view.steps):
            why = f"A loop of {period} actions goes round for the third time or more."
            yield found(key, why, step, view.steps[index - period])
        last[key] = index
        if _changes_something(view, index):
            changed = logged = index
        elif step.action == APPEND_SUMMARY.name:
            logged = index


def _is_idle(view: RunView, index: int, *, unchanged: bool) -> bool:
    """Tell whether repeating a step cannot lead to anything new."""
    step = view.steps[index]
    if step.action in {FINAL_ANSWER.name, RESTORE_WORKSPACE.name}:
        return False
    if step.action in WRITING and step.ok:
        return not view.edits[index]
    return unchanged


def _changes_something(view: RunView, index: int) -> bool:
    step = view.steps[index]
    if step.action == RESTORE_WORKSPACE.name or (
        step.action in WRITING and view.edits[index]
    ):
        return step.ok
    if not executes(step) or index == 0:
        return executes(step)
    before, after = view.steps[index - 1].snapshot, step.snapshot
    return before is None or after is None or before != after


def _loop(keys: Sequence[str], steps: Sequence[Step]) -> int:
    """Return the length of the loop at the end of the keys; 0 for none."""
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


def same_exception(view: RunView) -> Iterator[Finding]:
    """Find executions that end like a failed one before them, with edits between."""
    failed: dict[str, Step] = {}
    edited_after: set[str] = set()
    for step, edits in zip(view.steps, view.edits, strict=True):
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
    """Return the last line of an execution's error; None if it did not fail."""
    if step.ok and _TRACEBACK not in step.observation:
        return None
    if lines := _RAISED.findall(step.observation[-_TAIL_CHARACTERS:]):
        return str(lines[-1])
    return None if step.ok else step.observation[:_TAIL_CHARACTERS].partition("\n")[0]


def edits_never_executed(view: RunView) -> Iterator[Finding]:
    """Find the last edit of every script that no later execution could run."""
    for name, index in _last_edits(view).items():
        step = view.steps[index]
        if not any(_may_run(view, later, name) for later in view.steps[index:]):
            text = given(step, "content") or given(step, "edit_instruction") or name
            why = f"{name} was changed and then never executed."
            yield found(f"{step.action} {name}: {text}", why, step)


def _last_edits(view: RunView) -> dict[str, int]:
    last: dict[str, int] = {}
    for index, (step, edits) in enumerate(zip(view.steps, view.edits, strict=True)):
        for edit in edits:
            if not is_code(edit.file):
                continue
            last.pop(edit.file, None)
            if step.action not in {UNDO_EDIT_SCRIPT.name, COPY_FILE.name}:
                last[edit.file] = index
    return last


def _may_run(view: RunView, step: Step, name: str) -> bool:
    if not executes(step):
        return False
    if not _is_new(view, name):
        return True
    module = name.rpartition("/")[2].rpartition(".")[0]
    script = workspace_name(given(step, "script_name"))
    command = given(step, "command")
    return module in f"{script} {command}" or any(
        module
        in f"{given(step, 'content')} {given(step, 'command')} {step.observation}"
        for step, edits in zip(view.steps, view.edits, strict=True)
        if any(edit.file == script for edit in edits)
    )


def _is_new(view: RunView, name: str) -> bool:
    """Tell whether the agent made a file; scripts of the starter run each other."""
    if name in {view.task.script, *view.task.submission}:
        return False
    named = [any(edit.file == name for edit in edits) for edits in view.edits]
    return not any(
        step.ok
        and step.action not in WRITING
        and name == workspace_name(given(step, "file_name"))
        for step in view.steps[: named.index(True)]
    )


_WRONG_INPUT = ("wrong arguments.", "arguments must be text.")


def response_format(view: RunView) -> Iterator[Finding]:
    """Find every reply that held no valid action."""
    for step in view.steps:
        if is_format_error(step):
            reply = given(step, "reply") or f"{step.action} {step.input}"
            yield found(reply, f"No action was taken: {step.observation[:120]}", step)


def is_format_error(step: Step) -> bool:
    """Tell whether a step is a reply without a valid action."""
    if step.action == REJECTED:
        return step.error != "pointless"
    if step.error in {"bad_reply", "unknown_action"}:
        return True
    return not step.ok and step.observation.startswith(_WRONG_INPUT)


LAST_PART = 0.9
AT_LEAST = 3
"""Fewer steps are not a waste."""
_USED_UP = frozenset({Ending.OUT_OF_TIME, Ending.OUT_OF_TOKENS, Ending.OUT_OF_COST})
_CLOSING = frozenset({FINAL_ANSWER.name, RESTORE_WORKSPACE.name, CHECK_SUBMISSION.name})


def wasted_budget(view: RunView) -> Iterator[Finding]:
    """Find that the last tenth of the budget brought no measured improvement."""
    last = _last_tenth(view)
    if not last:
        # Replies that led to no step took the last tenth or more.
        if view.ending in _USED_UP and view.steps:
            why = (
                "What was asked for after this step used up the budget and did nothing."
            )
            yield found(view.steps[-1].action, why, view.steps[-1])
        return
    first = view.steps.index(last[0])
    sign = view.task.direction.sign
    before = (step.validation for step in view.steps[:first])
    best = max((sign * score.value for score in before if score), default=-math.inf)
    if any(one.validation and sign * one.validation.value > best for one in last):
        return
    working = _working(last, view, best)
    if (
        len(working) >= AT_LEAST
        or (working and best == -math.inf)
        or _failed_for_long(working, view.task.budget)
    ):
        shown = ", ".join(
            f"{step.action}{'' if step.ok else ' (failed)'}" for step in last
        )
        why = "The last tenth of the budget brought no measured improvement."
        yield found(shown, why, view.steps[-1], *working[:3])


def _last_tenth(view: RunView) -> list[Step]:
    budget = view.task.budget
    late = [step for step in view.steps if _share(step.spent, budget) > LAST_PART]
    if late and late[-1].spent.steps > LAST_PART * budget.steps:
        return list(view.steps[-max(len(late), AT_LEAST) :])
    return late


def _share(spent: Spent, budget: Budget) -> float:
    shares = [spent.steps / budget.steps, spent.seconds / (60 * budget.minutes)]
    if budget.tokens:
        shares.append(spent.tokens / budget.tokens)
    if budget.cost_usd:
        shares.append(spent.cost / budget.cost_usd)
    return max(shares)


def _working(last: list[Step], view: RunView, best: float) -> list[Step]:
    """Return the steps before the closing ones, which restore the best and end."""
    end = len(last)
    while end:
        step = last[end - 1]
        # A step may only write the file that a closing step executes.
        prepares = end < len(last) and step.action in WRITING
        value = step.validation.value if step.validation else math.nan
        restores = view.task.direction.sign * value == best
        if not (prepares or restores or step.action in _CLOSING):
            break
        end -= 1
    return last[:end]


def _failed_for_long(working: list[Step], budget: Budget) -> bool:
    long = (1 - LAST_PART) * 60 * budget.minutes
    failed = [step.seconds for step in working if not step.ok]
    return sum(seconds.model + seconds.execute for seconds in failed) > long
