"""Replies that were no action: out of format, or naming what does not exist."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import REJECTED, Step
from mlagentbench.evaluation.process.acts import given
from mlagentbench.evaluation.process.story import Story, found

_WRONG_INPUT = ("wrong arguments.", "arguments must be text.")


def response_format(story: Story) -> Iterator[Finding]:
    """Find every reply that could not be acted on as it was written."""
    for step in story.steps:
        if is_format_error(step):
            said = given(step, "reply") or f"{step.action} {step.input}"
            yield found(said, f"No action was taken: {step.observation[:120]}", step)


def is_format_error(step: Step) -> bool:
    """Tell whether a step is a reply that was no action."""
    if step.action == REJECTED:
        return step.error != "pointless"
    if step.error in {"bad_reply", "unknown_action"}:
        return True
    return not step.ok and step.observation.startswith(_WRONG_INPUT)
