"""The prompt of the LLM judge, and the reader of its votes.

Each step is one line of JSON. Text of an agent or a program is a string in it, so that
it can neither begin a line nor end the data. The prompt holds neither the score nor the
names of agent and model nor the findings of process checks: none may sway the judge.
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

from mlagentbench.agents import ReadingError, exact_object, object_at
from mlagentbench.core import ModelCall, Step, Trace, clean_text, sendable, shortened
from mlagentbench.environment import filled
from mlagentbench.evaluation import CRITERIA, Judged, Vote
from mlagentbench.experiment import RetryLimits
from mlagentbench.run.model_calls import ModelRequest, preferred_protocol

JUDGE = "judge"

_FOLDER = Path(__file__).parent / "prompts"
_HEADING = re.compile(r"(?m)^## (\w+)\n")
_LEAST_PER_STEP = 250
_LONGEST_NAME = 80
_LONGEST_REPLY = 20_000
_LONGEST_REASON = 300


@dataclass(frozen=True)
class JudgeQuestion:
    """One run, as the judge is asked about it."""

    run: str
    attempt: int
    problem: str
    transcript: str


def ask_for_vote(
    question: JudgeQuestion, number: int, model: str, retries: RetryLimits
) -> ModelRequest:
    """Build the request for one vote.

    Each vote asks in another order, so that no criterion is always first.
    """
    first = number % len(CRITERIA)
    order = CRITERIA[first:] + CRITERIA[:first]
    # A delimiter for the data: its digest, which the data cannot contain.
    data = sendable(f"{question.problem}\n{question.transcript}")
    mark = hashlib.sha256(data.encode()).hexdigest()[:16]
    one = {"mark": "<1 to 5>", "reason": "<one sentence>"}
    form = json.dumps(dict.fromkeys(order, one), indent=1)
    prompt = filled(
        _FOLDER / "question.md",
        mark=mark,
        problem=question.problem,
        run=question.transcript,
        rubric="\n".join(rubric()[name] for name in order).strip(),
        form=form.replace('"<1 to 5>"', "<1 to 5>"),
    )
    system = filled(_FOLDER / "judge.md", mark=mark).strip()
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=system),
        ChatMessageUser(content=prompt.strip()),
    ]
    return ModelRequest(JUDGE, messages, (), _config(order, model, retries))


@cache
def rubric() -> dict[str, str]:
    text = (_FOLDER / "rubric.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {
        name: f"## {name}\n{text}"
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _config(order: tuple[str, ...], model: str, retries: RetryLimits) -> GenerateConfig:
    config = GenerateConfig(**retries.model_dump())
    if preferred_protocol(model) != "schema":
        return config
    one = exact_object(
        {"mark": JSONSchema(type="integer"), "reason": JSONSchema(type="string")}
    )
    schema = exact_object(dict.fromkeys(order, one))
    vote = ResponseSchema(name="vote", json_schema=schema, strict=True)
    return config.model_copy(update={"response_schema": vote})


def transcript(trace: Trace, characters: int) -> str:
    """Write a run in about so many characters; long runs lose steps of their middle.

    `not_shown` gives the number of characters that each text has lost, because an agent
    may hide code in a long input.
    """
    first, last = trace.steps, trace.steps[:0]
    most = max(2, characters // _LEAST_PER_STEP)
    if len(first) > most:
        head = most // 2
        first, last = trace.steps[:head], trace.steps[head - most :]
    share = characters // max(1, len(first) + len(last))
    lines = [_line(step, share) for step in first]
    if left_out := trace.steps[len(first) : len(trace.steps) - len(last)]:
        inputs = sum(len(_paired(step)) for step in left_out)
        lines.append({"left_out": f"{len(left_out)} steps", "not_shown": inputs})
    lines += [_line(step, share) for step in last]
    if trace.end is not None:
        lines.append({"ended": trace.end.ending.value})
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def _line(step: Step, share: int) -> dict[str, object]:
    """Write a step in about `share` characters.

    Reply, input and observation have a third each, and what one of them leaves.
    """
    said, pairs = _said(step), _paired(step)
    limit = share // 3
    shown = _within(said, limit)
    input_limit = (share - len(shown)) // 2
    given = _within(pairs, input_limit)
    rest = share - len(shown) - len(given)
    line: dict[str, object] = {
        "step": step.step,
        "said": shown,
        "action": _within(step.action, _LONGEST_NAME),
        "input": given,
        "came_back": _within(step.told, rest),
    }
    if not step.ok:
        line["failed"] = step.error or "yes"
    lost = {
        "said": len(_left_out(said, limit)),
        **_lost_inputs(step, _left_out(pairs, input_limit)),
        "came_back": len(_left_out(step.told, rest)),
    }
    if not_shown := {name: count for name, count in lost.items() if count}:
        line["not_shown"] = not_shown
    return line


def _paired(step: Step) -> str:
    return "\n".join(f"{name}: {value}" for name, value in step.input.items())


def _left_out(text: str, limit: int) -> range:
    """Return the positions of a text that `_within` leaves out."""
    half = limit // 2
    return range(half, len(text) - half) if len(text) > limit else range(0)


def _lost_inputs(step: Step, left_out: range) -> dict[str, int]:
    """Return how many characters each input loses of `_paired`."""
    lost, start = {}, 0
    for name, value in step.input.items():
        end = start + len(f"{name}: {value}")
        both = range(max(start, left_out.start), min(end, left_out.stop))
        lost[f"input {_within(name, _LONGEST_NAME)}"] = len(both)
        start = end + 1
    return lost


def _said(step: Step) -> str:
    """Return the fields beside the action, or the whole reply if it has none."""
    if step.fields:
        return "\n".join(f"{name}: {text}" for name, text in step.fields.items())
    calls = [call for call in step.calls if call.asked_by == "agent"]
    return "\n".join(filter(None, map(reply_text, calls)))


def reply_text(call: ModelCall) -> str:
    """Return the text of a recorded reply, or "" if it has another format."""
    try:
        return ModelOutput.model_validate(call.reply).completion
    except ValidationError:
        return ""


def _within(text: str, limit: int) -> str:
    return shortened(sendable(text), limit)


def read_vote(reply: str) -> Vote | None:
    """Read the one JSON object of a reply; None if it is not exactly a vote.

    Text around it is ignored. A second object is not: one of the two may be quoted
    from the run, and nothing shows which one is the vote.
    """
    text = clean_text(reply[: _LONGEST_REPLY + 1])
    start = text.find("{")
    if start < 0 or len(reply) > _LONGEST_REPLY:
        return None
    try:
        found = object_at(text, start)
        vote = Vote.model_validate({"judged": found.value})
        # Reasons are shown in the report, so they are cleaned and shortened.
        judged = {
            name: Judged(
                mark=one.mark, reason=shortened(clean_text(one.reason), _LONGEST_REASON)
            )
            for name, one in vote.judged.items()
        }
    except (ReadingError, ValidationError):
        return None
    return None if "{" in text[found.end :] else Vote(judged=judged)
