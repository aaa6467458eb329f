"""The same exception again, after something was changed to be rid of it."""

import re
from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import executes
from mlagentbench.evaluation.process.story import Story, found

_TAIL_CHARACTERS = 4_000
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(
    r"^(?:E +)?[A-Za-z_][\w.]{0,80}"
    r"(?:Error|Exception|Exit|Interrupt|Warning|Iteration|NotFound)\b[^\n]{0,300}",
    re.MULTILINE,
)
_NUMBERS = re.compile(r"0x[0-9a-fA-F]{1,32}|[0-9]{1,32}")


def same_exception(story: Story) -> Iterator[Finding]:
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
