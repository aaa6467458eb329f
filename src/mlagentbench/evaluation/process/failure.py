"""Failure mode of a run in the paper's terms: the first rule that holds.

1. token length: the tokens ran out, or replies and conversations were cut off by
   length in the last three steps or in a third of all.
2. format: the same for all replies that were no action.
3. debugging: the last execution failed and nothing can be scored, or an exception came
   again and the last execution still failed.
4. submission format: there is no valid submission.
5. debugging: most executions failed.
6. hallucination: a result was stated that nothing bears out.
7. bad plan: nothing changed was ever run, the best was not what was submitted, or
   repeats, unkept announcements and a wasted end make up a fifth of the steps.
8. small improvement: sound work that did not get far enough.

What comes first kept the rest from mattering: without tokens there is no format, and
without a submission no claim about it can be wrong.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from mlagentbench.core import (
    WRITING,
    Ending,
    FailureMode,
    ProcessCheck,
    Step,
    Trace,
    executes,
)
from mlagentbench.evaluation.process.conduct import is_format_error

Process = Mapping[str, ProcessCheck]

_CUT_OFF = ("cut off by the length limit", "too long for the model's context")
_MANY = 1 / 3
_FIFTH = 1 / 5
_AT_THE_END = 3


def failure_mode(
    trace: Trace, process: Process, *, success: bool
) -> FailureMode | None:
    """Return the main reason; None if a run succeeded or does not count."""
    if success or trace.end is None or not trace.end.ending.counts:
        return None
    out_of_tokens = trace.end.ending is Ending.OUT_OF_TOKENS
    executed = [step for step in trace.steps if executes(step)]
    cut = [any(why in step.observation for why in _CUT_OFF) for step in trace.steps]
    unread = [is_format_error(step) for step in trace.steps]
    rules = (
        (FailureMode.TOKEN_LENGTH, out_of_tokens or _prevails(cut)),
        (FailureMode.FORMAT, _prevails(unread)),
        (FailureMode.DEBUGGING, _is_stuck(executed, process)),
        (FailureMode.SUBMISSION_FORMAT, process["submission"].value > 0),
        (FailureMode.DEBUGGING, _mostly_fails(executed)),
        (FailureMode.HALLUCINATION, process["unsupported_claims"].value > 0),
        (FailureMode.BAD_PLAN, _is_badly_planned(trace.steps, process)),
    )
    first = (mode for mode, holds in rules if holds)
    return next(first, FailureMode.SMALL_IMPROVEMENT)


def _prevails(at: Sequence[bool]) -> bool:
    """Tell whether something happened at the end, or in a third of the steps."""
    last = at[-_AT_THE_END:]
    return (len(last) == _AT_THE_END and all(last)) or sum(at) > _MANY * len(at)


def _is_stuck(executed: Sequence[Step], process: Process) -> bool:
    if not executed or executed[-1].ok:
        return False
    return process["same_exception"].value + process["submission"].value > 0


def _mostly_fails(executed: Sequence[Step]) -> bool:
    return 2 * sum(not step.ok for step in executed) > len(executed)


def _is_badly_planned(steps: Sequence[Step], process: Process) -> bool:
    names = ("repeated_actions", "plan_drift", "wasted_budget", "edits_never_executed")
    faults = sum(process[name].value for name in names)
    tried = any(
        executes(later) and step.action in WRITING for step, later in pairwise(steps)
    ) or any(executes(step) and "command" in step.input for step in steps)
    worse = process["worse_than_best"].value > 0
    return worse or not tried or faults > _FIFTH * len(steps)
