"""A run as its judge is told it: shortened, and in lines that no text can forge.

Each step is one line of JSON. Whatever an agent or a program wrote is a string in it,
so it can neither begin a line of its own nor end the data. The judge is told neither
the score nor who worked, nor what the rules found: its opinion is its own.
"""

import json

from inspect_ai.model import ModelOutput
from pydantic import ValidationError

from mlagentbench.core.trace import ModelCall, Step, Trace
from mlagentbench.environment.prompts import sendable
from mlagentbench.environment.shorten import shortened

_LEAST_A_STEP = 250
_NAME = 80


def retold(trace: Trace, room: int) -> str:
    """Tell a run in about `room` characters; long runs lose steps of their middle."""
    first, last = _shown(trace.steps, max(2, room // _LEAST_A_STEP))
    share = room // max(1, len(first) + len(last))
    lines = [_line(step, share) for step in first]
    if left_out := len(trace.steps) - len(first) - len(last):
        lines.append({"left_out": f"{left_out} steps"})
    lines += [_line(step, share) for step in last]
    if trace.end is not None:
        lines.append({"ended": trace.end.ending.value})
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def _shown(
    steps: tuple[Step, ...], most: int
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    if len(steps) <= most:
        return steps, ()
    head = most // 2
    return steps[:head], steps[head - most :]


def _line(step: Step, share: int) -> dict[str, object]:
    """Tell one step in about `share` characters: a third each, rests passed on."""
    said = _within(_said(step), share // 3)
    given = _within(_given(step), (share - len(said)) // 2)
    line: dict[str, object] = {
        "step": step.step,
        "said": said,
        "action": _within(step.action, _NAME),
        "input": given,
        "came_back": _within(step.told, share - len(said) - len(given)),
    }
    return line if step.ok else line | {"failed": step.error or "yes"}


def _said(step: Step) -> str:
    """Return what was said beside the action; the whole reply where nothing is."""
    if step.fields:
        return "\n".join(f"{name}: {text}" for name, text in step.fields.items())
    asked = [call for call in step.calls if call.asked_by == "agent"]
    return "\n".join(filter(None, map(said_in, asked)))


def said_in(call: ModelCall) -> str:
    """Return the words of a recorded reply; none where it is no reply of ours."""
    try:
        return ModelOutput.model_validate(call.reply).completion
    except ValidationError:
        return ""


def _given(step: Step) -> str:
    return "\n".join(f"{name}: {value}" for name, value in step.input.items())


def _within(text: str, limit: int) -> str:
    return shortened(sendable(text), limit)
