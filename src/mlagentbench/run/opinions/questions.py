"""What a judge is asked: the data between marks, then the rubric, then the form."""

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
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from mlagentbench.agents.languages.shapes import exactly
from mlagentbench.environment.prompts import filled, sendable
from mlagentbench.evaluation.opinions import CRITERIA
from mlagentbench.run.asking import Question
from mlagentbench.run.plan import Patience
from mlagentbench.run.speech import speech_of

JUDGE = "judge"

_FOLDER = Path(__file__).parent / "prompts"
_HEADING = re.compile(r"(?m)^## (\w+)\n")


@dataclass(frozen=True)
class Case:
    """One run, ready to be judged."""

    run: str
    attempt: int
    problem: str
    told: str


def ask_for_vote(case: Case, number: int, model: str, patience: Patience) -> Question:
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
    return Question(JUDGE, messages, (), _config(order, model, patience))


@cache
def rubric() -> dict[str, str]:
    """Return the rubric by criterion."""
    text = (_FOLDER / "rubric.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {
        name: f"## {name}\n{words}"
        for name, words in zip(parts[::2], parts[1::2], strict=True)
    }


def _mark(case: Case) -> str:
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


def _config(order: tuple[str, ...], model: str, patience: Patience) -> GenerateConfig:
    config = GenerateConfig(**patience.model_dump())
    if speech_of(model) != "schema":
        return config
    one = exactly(
        {"mark": JSONSchema(type="integer"), "reason": JSONSchema(type="string")}
    )
    schema = exactly(dict.fromkeys(order, one))
    held = ResponseSchema(name="vote", json_schema=schema, strict=True)
    return config.model_copy(update={"response_schema": held})
