"""One log folder of the original becomes a run: its name, its trace, its judgement."""

from typing import NamedTuple

from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import NOT_JUDGED, RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.core.trace import REJECTED, End, Trace
from mlagentbench.evaluation.judgement import Verdict, evaluate
from mlagentbench.run.closing import circumstances, ended
from mlagentbench.run.importing.deeds import read_deeds
from mlagentbench.run.importing.endings import Finish, finish_of, total_seconds
from mlagentbench.run.importing.history import AgentLog
from mlagentbench.run.importing.reading import LogTree
from mlagentbench.run.importing.steps import steps_of

_SANDBOX = SandboxUsed(provider="original", limits="none", unsafe=True)
_SUBMITTED = "submission"
"""The one check that looks at a verdict and not at how a run was worked."""
_UNREADABLE = Finish(ending=Ending.BROKEN, reason="its trace.json cannot be read")


class Origin(NamedTuple):
    """Where a run lies, and what was read of its agent."""

    tree: LogTree
    folder: str
    log: AgentLog


def trace_of(origin: Origin, run: RunId) -> Trace:
    """Read a run's steps and how it ended."""
    deeds = read_deeds(origin.tree, origin.folder)
    total = total_seconds(origin.tree, origin.folder)
    if deeds is None:
        return _with_end(Trace(run=str(run)), _UNREADABLE, total)
    steps = steps_of(str(run), deeds, origin.log, total)
    finish = finish_of(origin.tree, origin.folder, deeds, origin.log)
    return _with_end(Trace(run=str(run), steps=steps), finish, total)


def judged(task: Task, run: RunId, trace: Trace, verdict: Verdict | None) -> Scorecard:
    """Judge how a run was worked; its score is the original's, where it gave one."""
    under = circumstances(_SANDBOX)
    if verdict is not None:
        return evaluate(task, run, trace, _renumbered(verdict, trace), under)
    card = evaluate(task, run, trace, Verdict(), under)
    reason = f"{card.reason}; {NOT_JUDGED}" if card.reason else NOT_JUDGED
    # Nobody looked at what was submitted, so that there is no failure to explain.
    process = {name: one for name, one in card.process.items() if name != _SUBMITTED}
    unknown = {"reason": reason, "failure": None, "process": process}
    return card.model_copy(update=unknown)


def _with_end(trace: Trace, finish: Finish, total: float | None) -> Trace:
    end: End = ended(trace, finish.ending, finish.reason)
    if total is not None:
        end = end.model_copy(update={"seconds": total})
    return trace.model_copy(update={"end": end})


def _renumbered(verdict: Verdict, trace: Trace) -> Verdict:
    """Count steps as our trace does, in which unreadable replies are steps too."""
    ours = {
        step.spent.steps: step.step for step in trace.steps if step.action != REJECTED
    }
    steps = tuple(
        one.model_copy(update={"step": ours[one.step]})
        for one in verdict.steps
        if one.step in ours
    )
    return verdict.model_copy(update={"steps": steps})
