"""Was the starter ever run as it is? Without that no change can be judged."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import executes, given, is_code, plain
from mlagentbench.evaluation.process.story import Story, found


def baseline_never_measured(story: Story) -> Iterator[Finding]:
    """Find that the starter's own code was changed, or left, without being run.

    Any execution counts that was measured or ran the task's script to its end, while
    no code of the starter had been changed. Files of the agent's own do not matter:
    whoever works on a copy may still measure the original later.
    """
    first_change = None
    for step, edits in zip(story.steps, story.edits, strict=True):
        changed = [edit.file for edit in edits if _is_starters(story.task, edit.file)]
        if changed:
            first_change = step
            break
        if _measures(story.task, step):
            return
    at = first_change or (story.steps[-1] if story.steps else None)
    if at is not None:
        why = f"{story.task.script} was never run as it was given."
        yield found(f"{at.action} {at.input}", why, at)


def _is_starters(task: Task, name: str) -> bool:
    return name == task.script or (name in task.submission and is_code(name))


def _measures(task: Task, step: Step) -> bool:
    if not executes(step):
        return False
    names = f"{plain(given(step, 'script_name'))} {given(step, 'command')}"
    return step.validation is not None or (step.ok and task.script in names)
