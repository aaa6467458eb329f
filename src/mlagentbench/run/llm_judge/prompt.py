"""What it is told, and how its vote is read.

Each step is one line of JSON. Whatever an agent or a program wrote is a string in it,
so it can neither begin a line of its own nor end the data. The judge is told neither
the score nor who worked, nor what the rules found: its opinion is its own.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema
from pydantic import ValidationError

from mlagentbench.agents.protocols.action_input import exact_object
from mlagentbench.agents.protocols.json_reader import ReadingError, object_at
from mlagentbench.core.text import clean_text, sendable, shortened
from mlagentbench.core.trace import ModelCall, Step, Trace
from mlagentbench.environment.prompts import filled
from mlagentbench.evaluation.llm_judge import CRITERIA, Judged, Vote
from mlagentbench.experiment.plan import RetryLimits
from mlagentbench.run.model_calls import ModelRequest, preferred_protocol

JUDGE = "judge"

_FOLDER = Path(__file__).parent / "prompts"
_HEADING = re.compile(r"(?m)^## (\w+)\n")


@dataclass(frozen=True)
class JudgeQuestion:
    """One run, ready to be judged."""

    run: str
    attempt: int
    problem: str
    told: str


def ask_for_vote(
    case: JudgeQuestion, number: int, model: str, patience: RetryLimits
) -> ModelRequest:
    """Ask for one vote; each asks in another order, so that none is always first."""
    order = _turned(CRITERIA, number)
    mark = _mark(case)
    asked = filled(
        _FOLDER / "question.md",
        mark=mark,
        problem=case.problem,
        run=case.told,
        rubric="\n".join(rubric()[name] for name in order).strip(),
        form=_form(order),
    )
    system = filled(_FOLDER / "judge.md", mark=mark).strip()
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=system),
        ChatMessageUser(content=asked.strip()),
    ]
    return ModelRequest(JUDGE, messages, (), _config(order, model, patience))


@cache
def rubric() -> dict[str, str]:
    """Return the rubric by criterion."""
    text = (_FOLDER / "rubric.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {
        name: f"## {name}\n{words}"
        for name, words in zip(parts[::2], parts[1::2], strict=True)
    }


def _mark(case: JudgeQuestion) -> str:
    """Return what the data is marked with: nothing can hold its own digest."""
    data = sendable(f"{case.problem}\n{case.told}")
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _turned(names: tuple[str, ...], by: int) -> tuple[str, ...]:
    at = by % len(names)
    return names[at:] + names[:at]


def _form(order: tuple[str, ...]) -> str:
    one = {"mark": "<1 to 5>", "reason": "<one sentence>"}
    shape = json.dumps(dict.fromkeys(order, one), indent=1)
    return shape.replace('"<1 to 5>"', "<1 to 5>")


def _config(
    order: tuple[str, ...], model: str, patience: RetryLimits
) -> GenerateConfig:
    config = GenerateConfig(**patience.model_dump())
    if preferred_protocol(model) != "schema":
        return config
    one = exact_object(
        {"mark": JSONSchema(type="integer"), "reason": JSONSchema(type="string")}
    )
    schema = exact_object(dict.fromkeys(order, one))
    held = ResponseSchema(name="vote", json_schema=schema, strict=True)
    return config.model_copy(update={"response_schema": held})


_LEAST_A_STEP = 250
_NAME = 80


def transcript(trace: Trace, room: int) -> str:
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


_LONGEST_REPLY = 20_000
_LONGEST_REASON = 300


def read_vote(reply: str) -> Vote | None:
    """Read the one JSON object of a reply; None where it is not exactly a vote.

    Words around it are passed over. A second object is not: one of the two may be
    quoted from the run, and nobody can tell which was meant.
    """
    text = clean_text(reply[: _LONGEST_REPLY + 1])
    start = text.find("{")
    if start < 0 or len(reply) > _LONGEST_REPLY:
        return None
    try:
        found = object_at(text, start)
        vote = Vote.model_validate({"judged": found.value})
        return None if "{" in text[found.end :] else _plain(vote)
    except (ReadingError, ValidationError):
        return None


def _plain(vote: Vote) -> Vote:
    """Return the vote with reasons that can be shown anywhere."""
    judged = {
        name: Judged(
            mark=one.mark, reason=shortened(clean_text(one.reason), _LONGEST_REASON)
        )
        for name, one in vote.judged.items()
    }
    return Vote(judged=judged)
