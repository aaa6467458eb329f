"""Code that was written and never run."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import (
    TARGET,
    UNDO,
    executes,
    given,
    is_code,
    plain,
)
from mlagentbench.evaluation.process.story import Story, found


def edits_never_executed(story: Story) -> Iterator[Finding]:
    """Find the last edit of every script that nothing executed afterwards could run."""
    for name, index in _last_edits(story).items():
        if not any(
            _may_run(story, later, name) for later in range(index, len(story.steps))
        ):
            step = story.steps[index]
            text = given(step, "content") or given(step, "edit_instruction") or name
            why = f"{name} was changed and then never executed."
            yield found(f"{step.action} {name}: {text}", why, step)


def _last_edits(story: Story) -> dict[str, int]:
    last: dict[str, int] = {}
    for index, (step, edits) in enumerate(zip(story.steps, story.edits, strict=True)):
        for edit in edits:
            if not is_code(edit.file):
                continue
            last.pop(edit.file, None)
            if step.action not in {UNDO, "Copy File"}:
                last[edit.file] = index
    return last


def _may_run(story: Story, index: int, name: str) -> bool:
    step = story.steps[index]
    if not executes(step):
        return False
    if not _is_new(story, name):
        return True
    module = name.rpartition("/")[2].rpartition(".")[0]
    run = plain(given(step, "script_name"))
    return module in f"{run} {given(step, 'command')}" or _mentions(story, run, module)


def _is_new(story: Story, name: str) -> bool:
    """Tell whether the agent made a file; the starter's own scripts run each other."""
    if name in {story.task.script, *story.task.submission}:
        return False
    return not any(
        step.ok
        and step.action not in TARGET
        and name == plain(given(step, "file_name"))
        for step in story.steps[: _first_edit(story, name)]
    )


def _first_edit(story: Story, name: str) -> int:
    named = (any(edit.file == name for edit in edits) for edits in story.edits)
    return next(index for index, here in enumerate(named) if here)


def _mentions(story: Story, script: str, module: str) -> bool:
    return any(
        edit.file == script and module in _text(step)
        for step, edits in zip(story.steps, story.edits, strict=True)
        for edit in edits
    )


def _text(step: Step) -> str:
    return f"{given(step, 'content')} {given(step, 'command')} {step.observation}"
