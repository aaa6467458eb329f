"""Replies that were no action: out of format, or naming what does not exist."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import REJECTED, given
from mlagentbench.evaluation.process.story import Story, found

TURNED_DOWN = (
    "Nothing was changed since the last execution",
    "This very edit was tried before",
)
"""How an agent of ours turns down a well-formed wish; that is no matter of format."""
_WRONG_INPUT = ("wrong arguments.", "arguments must be text.")


def response_format(story: Story) -> Iterator[Finding]:
    """Find every reply that could not be acted on as it was written."""
    for step in story.steps:
        if is_format_error(step):
            said = given(step, "reply") or f"{step.action} {step.input}"
            yield found(said, f"No action was taken: {step.observation[:120]}", step)


def is_format_error(step: Step) -> bool:
    """Tell whether a step is a reply that was no action."""
    if step.action == REJECTED or step.error == "bad_reply":
        return not step.observation.startswith(TURNED_DOWN)
    if step.error == "unknown_action":
        return True
    return not step.ok and step.observation.startswith(_WRONG_INPUT)
