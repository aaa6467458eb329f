"""Scorecards of runs that could not write their own."""

from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.judgement import Circumstances, Verdict, evaluate
from mlagentbench.run.closing import circumstances, ended
from mlagentbench.run.damage import trace_damage
from mlagentbench.run.order import Order
from mlagentbench.run.tracefile import read_trace


def add_missing_card(
    order: Order, run: RunId, ending: Ending, reason: str | None
) -> None:
    """Say how a run ended, unless it was judged."""
    if ending is Ending.BROKEN and reason is None:
        reason = f"it left no word; see {order.experiment.logs}"
    cards, _ = order.experiment.scorecards()
    if any(card.run == str(run) and card.attempt == order.attempt for card in cards):
        return
    under = circumstances(order.sandbox, order.attempt)
    damage = trace_damage(order.experiment, run)
    if damage is not None:
        order.experiment.add(unreadable_card(order.task, run, damage, under))
        return
    trace = _trace(order, run)
    trace = trace.model_copy(update={"end": ended(trace, ending, reason)})
    order.experiment.add(evaluate(order.task, run, trace, Verdict(), under))


def unreadable_card(
    task: Task, run: RunId, damage: str, under: Circumstances
) -> Scorecard:
    """Say that a run's trace cannot be read any more, and why."""
    trace = Trace(run=str(run))
    end = ended(trace, Ending.BROKEN, damage)
    return evaluate(task, run, trace.model_copy(update={"end": end}), Verdict(), under)


def _trace(order: Order, run: RunId) -> Trace:
    return read_trace(order.experiment.trace(run), str(run))
