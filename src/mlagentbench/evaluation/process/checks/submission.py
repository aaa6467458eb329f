"""Nothing to judge: the submission is missing or was refused."""

from collections.abc import Iterator

from mlagentbench.core.finding import Finding
from mlagentbench.evaluation.process.story import Story, found


def submission(story: Story) -> Iterator[Finding]:
    """Find that a run that counts left nothing that can be scored."""
    if not story.ending.counts or story.verdict.score is not None:
        return
    reason = story.verdict.submission_error or "nothing was submitted"
    yield found(reason, "What was left cannot be scored.", *story.steps[-1:])
