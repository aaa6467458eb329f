"""Look a run over with every check."""

from mlagentbench.core.finding import ProcessCheck
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.process.story import Judged, Story
from mlagentbench.evaluation.process.table import CHECKS, Check

EVIDENCE_SHOWN = 10


def examine(task: Task, trace: Trace, verdict: Judged) -> dict[str, ProcessCheck]:
    """Return what each check found, with its first pieces of evidence."""
    story = Story(task, trace, verdict)
    return {name: _checked(check, story) for name, check in CHECKS.items()}


def _checked(check: Check, story: Story) -> ProcessCheck:
    findings = tuple(check(story))
    return ProcessCheck(value=len(findings), evidence=findings[:EVIDENCE_SHOWN])
