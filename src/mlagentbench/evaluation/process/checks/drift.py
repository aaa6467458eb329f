"""Doing something else than what was announced."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import (
    CODE,
    EXECUTING,
    FINAL,
    NAMES,
    PATHS,
    READING,
    TARGET,
    given,
)
from mlagentbench.evaluation.process.story import Story, found

SOON = 3
"""What is announced without a file's name must be begun within so many steps."""
_MOST_CHARACTERS = 8_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\n;]+")
_VERBS = {
    "run": "run",
    "rerun": "run",
    "execute": "run",
    "write": "edit",
    "create": "edit",
    "edit": "edit",
    "modify": "edit",
    "rewrite": "edit",
    "update": "edit",
    "save": "edit",
    "read": "read",
    "inspect": "read",
    "open": "read",
    "submit": "end",
    "use": "use",
    "call": "use",
}
_DOES = {
    "run": EXECUTING,
    "edit": frozenset(TARGET) | EXECUTING,
    "read": READING | EXECUTING,
    "end": frozenset({FINAL}),
}
_VERB = "|".join(_VERBS)
_PROMISE = re.compile(
    r"\b(?:I will|I'll|I am going to|I'm going to|we will|we'll|let me|let us|let's)\s"
    rf"(?:now |then |first |next |also ){{0,2}}(?P<verb>{_VERB})\b"
    r"(?P<rest>[^\n]{0,160})",
    re.IGNORECASE,
)
_ITEM = re.compile(
    rf"^[\s*-]{{0,8}}(?:[0-9]{{1,2}}[.)]\s{{0,3}})?(?P<verb>{_VERB})\b"
    r"(?P<rest>[^\n]{0,160})",
    re.IGNORECASE,
)
_UNCERTAIN = re.compile(
    r"\b(?:if|unless|when|later|eventually|might|may|could|or|not|never|instead)\b|\?",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w./-])[\w-]{1,60}(?:/[\w-]{1,60}){0,4}\.(?:py|sh|csv|md|txt)\b"
)


@dataclass(frozen=True)
class Promise:
    """Something an agent says that it does next."""

    does: str
    file: str
    action: str
    text: str


def plan_drift(story: Story) -> Iterator[Finding]:
    """Find announced actions and files that never came."""
    seen: set[tuple[str, str, str]] = set()
    for index, step in enumerate(story.steps):
        for promise in _promises(step):
            key = (promise.does, promise.file, promise.action)
            if key in seen:
                continue
            seen.add(key)
            if not _had_a_chance(story, index) or _is_kept(story, index, promise):
                continue
            what = promise.file or promise.action or "that"
            why = f"It was announced to {promise.does} {what}, which did not happen."
            yield found(promise.text, why, step)


def _promises(step: Step) -> Iterator[Promise]:
    for name, text in step.fields.items():
        for sentence in _SENTENCE.split(text[:_MOST_CHARACTERS]):
            match = _PROMISE.search(sentence)
            if match is None and "plan" in name.lower():
                match = _named_item(sentence)
            if match and not _UNCERTAIN.search(sentence):
                yield from _read(match, sentence)


def _named_item(sentence: str) -> re.Match[str] | None:
    """Return an item of a plan, if it names what it is about."""
    match = _ITEM.match(sentence)
    return match if match and _FILE.search(match["rest"]) else None


def _read(match: re.Match[str], sentence: str) -> Iterator[Promise]:
    does = _VERBS[match["verb"].lower()]
    file = _FILE.search(match["rest"])
    action = next((name for name in NAMES if name in match["rest"]), "")
    if does == "use" and not action:
        return
    if does == "read" and file is None:
        return
    yield Promise(does, file[0] if file else "", action, sentence)


def _had_a_chance(story: Story, index: int) -> bool:
    return story.ended_itself or len(story.steps) - index > SOON


def _is_kept(story: Story, index: int, promise: Promise) -> bool:
    if promise.action:
        return any(step.action == promise.action for step in story.steps[index:])
    doing = _DOES[promise.does]
    if promise.file:
        return any(
            step.action in doing and promise.file in _inputs(step)
            for step in story.steps[index:]
        )
    soon = story.steps[index : index + SOON]
    return any(step.action in doing for step in soon)


def _inputs(step: Step) -> str:
    return " ".join(given(step, key) for key in (*PATHS, *CODE))
