"""Checks of results: baseline never run, worse than best, no submission, plan drift."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mlagentbench.core import (
    CHECK_SUBMISSION,
    CODE,
    EXECUTING,
    FINAL_ANSWER,
    PATHS,
    READING,
    RESTORE_WORKSPACE,
    WRITING,
    Finding,
    Step,
    Task,
    executes,
    given,
    is_code,
    workspace_name,
)
from mlagentbench.evaluation.process.run_view import RunView, found


def baseline_never_measured(view: RunView) -> Iterator[Finding]:
    """Find that the starter code was changed, or left, without being run.

    Any execution counts that was measured or ran the task's script to its end, while
    no code of the starter had been changed. New files do not matter: an agent that
    works on a copy may still measure the original later.
    """
    at = None
    for at, edits in zip(view.steps, view.edits, strict=True):
        if any(_is_starters(view.task, edit.file) for edit in edits):
            break
        if _measures(view.task, at):
            return
    if at is not None:
        why = f"{view.task.script} was never run as it was given."
        yield found(f"{at.action} {at.input}", why, at)


def _is_starters(task: Task, name: str) -> bool:
    return name == task.script or (name in task.submission and is_code(name))


def _measures(task: Task, step: Step) -> bool:
    if not executes(step):
        return False
    names = f"{workspace_name(given(step, 'script_name'))} {given(step, 'command')}"
    return step.validation is not None or (step.ok and task.script in names)


_SDS = 2.0
_SHARE = 0.005
_SHARE_TIMED = 0.1
"""The smallest relevant difference; times vary far more than scores."""


def worse_than_best(view: RunView) -> Iterator[Finding]:
    """Find that the final state has a validation score clearly below the best one."""
    sources = _submission_sources(view)
    measured = [step for step in view.steps if step.validation is not None]
    if not measured or not sources or sources[-1] is None:
        return
    sign = view.task.direction.sign
    best = max(measured, key=lambda step: sign * _value(step))
    loss = sign * (_value(best) - _value(sources[-1]))
    if loss > tolerance(view.task, _value(best)):
        text = f"step {best.step}: {best.note or _value(best)}; left:"
        why = "What was left is worse on validation than what was there before."
        text = f"{text} {sources[-1].note or _value(sources[-1])}"
        yield found(text, why, view.steps[-1], best)


def tolerance(task: Task, value: float) -> float:
    """Return how far two validation scores may be apart by noise."""
    timed = task.grading is not None and task.grading.timed
    share = _SHARE_TIMED if timed else _SHARE
    sd = task.measured.starter.sd if task.measured else 0.0
    return max(_SDS * max(sd, task.sd_floor), share * abs(value))


def _submission_sources(view: RunView) -> list[Step | None]:
    """Return for each step the measured step that its submission comes from."""
    sources: list[Step | None] = []
    now: Step | None = None
    for step, edits in zip(view.steps, view.edits, strict=True):
        if step.action == RESTORE_WORKSPACE.name and step.ok:
            number = given(step, "step_number")
            known = zip(view.steps, sources, strict=False)
            now = next((source for at, source in known if str(at.step) == number), None)
        elif step.validation is not None:
            now = step
        elif any(edit.file in view.task.submission for edit in edits):
            now = None
        sources.append(now)
    return sources


def _value(step: Step) -> float:
    return step.validation.value if step.validation else 0.0


def submission(view: RunView) -> Iterator[Finding]:
    """Find that a run that counts left no valid submission."""
    if not view.ending.counts or view.score is not None:
        return
    reason = view.submission_error or "nothing was submitted"
    yield found(reason, "What was left cannot be scored.", *view.steps[-1:])


SOON = 3
"""An action announced without a file name must start within so many steps."""
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
    "edit": frozenset(WRITING) | EXECUTING,
    "read": READING | EXECUTING,
    "end": frozenset({FINAL_ANSWER.name}),
}
_ANNOUNCED = (
    *(*WRITING, *EXECUTING, *READING),
    *(FINAL_ANSWER.name, RESTORE_WORKSPACE.name, CHECK_SUBMISSION.name),
)
"""The names to look for; those of the research log are common words."""
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
    """An action that an agent announces."""

    does: str
    file: str
    action: str
    text: str


def plan_drift(view: RunView) -> Iterator[Finding]:
    """Find announced actions and files that never followed."""
    seen: set[tuple[str, str, str]] = set()
    for index, step in enumerate(view.steps):
        for promise in _promises(step):
            key = (promise.does, promise.file, promise.action)
            if key in seen:
                continue
            seen.add(key)
            had_time = view.ended_itself or len(view.steps) - index > SOON
            if not had_time or _is_kept(view, index, promise):
                continue
            what = promise.file or promise.action or "that"
            why = f"It was announced to {promise.does} {what}, which did not happen."
            yield found(promise.text, why, step)


def _promises(step: Step) -> Iterator[Promise]:
    for name, text in step.fields.items():
        for sentence in _SENTENCE.split(text[:_MOST_CHARACTERS]):
            match = _PROMISE.search(sentence)
            needs_file = match is None
            if match is None and "plan" in name.lower():
                match = _ITEM.match(sentence)
            if match is None or _UNCERTAIN.search(sentence):
                continue
            does = _VERBS[match["verb"].lower()]
            file = _FILE.search(match["rest"])
            action = next((name for name in _ANNOUNCED if name in match["rest"]), "")
            vague = not action if does == "use" else does == "read" and not file
            if not vague and (file or not needs_file):
                yield Promise(does, file[0] if file else "", action, sentence)


def _is_kept(view: RunView, index: int, promise: Promise) -> bool:
    if promise.action:
        return any(step.action == promise.action for step in view.steps[index:])
    doing = _DOES[promise.does]
    following = view.steps[index:] if promise.file else view.steps[index:][:SOON]
    return any(
        step.action in doing
        and promise.file in " ".join(given(step, key) for key in (*PATHS, *CODE))
        for step in following
    )
