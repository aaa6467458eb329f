"""Scorecards of runs that could not write their own."""

from mlagentbench.core.ending import Ending
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.judgement import Verdict, evaluate
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
    damage = trace_damage(order.experiment, run, None)
    if damage is not None:
        ending, reason = Ending.BROKEN, damage
    trace = _trace(order, run) if damage is None else Trace(run=str(run))
    end = ended(trace, ending, reason)
    trace = trace.model_copy(update={"end": end})
    under = circumstances(order.sandbox, order.attempt)
    order.experiment.add(evaluate(order.task, run, trace, Verdict(), under))


def _trace(order: Order, run: RunId) -> Trace:
    return read_trace(order.experiment.trace(run), str(run))
