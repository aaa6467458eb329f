"""One run, from the agent's first action to the end of its trace."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from inspect_ai.util import LimitExceededError, SandboxEnvironment

from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import BenchError, RecordError, blame
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import End
from mlagentbench.environment.room import Room
from mlagentbench.run.code_validation import CodeMeter
from mlagentbench.run.conductor import Assignment, Conductor, RunOver
from mlagentbench.run.meter import Meter
from mlagentbench.run.order import Order
from mlagentbench.run.submission import refusal
from mlagentbench.run.tracefile import TraceWriter
from mlagentbench.run.validation import ValidationMeter

_INSPECT_LIMITS = {
    "token": Ending.OUT_OF_TOKENS,
    "cost": Ending.OUT_OF_COST,
    "time": Ending.OUT_OF_TIME,
    "working": Ending.OUT_OF_TIME,
    "message": Ending.OUT_OF_STEPS,
    "turn": Ending.OUT_OF_STEPS,
}


@dataclass(frozen=True)
class Finish:
    """How an agent's code came to its end."""

    ending: Ending
    reason: str | None = None


async def act_out(order: Order, run: RunId, sandbox: SandboxEnvironment) -> None:
    """Let the agent act until it is done or its budget is; the trace says all."""
    order.audience.run_started(run, order.task)
    with TraceWriter(order.experiment.trace(run)) as trace:
        conductor = _conductor(order, run, sandbox, trace)
        clock = time.monotonic()
        finish = await _finish(order, conductor)
        with blame(RecordError, "the trace cannot be written"):
            trace.append(_end(run, finish, conductor, time.monotonic() - clock))
    order.audience.run_ended(run, finish.ending)


def _conductor(
    order: Order, run: RunId, sandbox: SandboxEnvironment, trace: TraceWriter
) -> Conductor:
    assignment = Assignment(
        run=run,
        task=order.task,
        problem=order.problem,
        settings=order.settings,
    )

    async def check_submission() -> str | None:
        return await refusal(order.task, order.prepared, sandbox)

    def seconds_left() -> float:
        longest = order.task.budget.execution_minutes * 60
        return min(longest, conductor.remaining().seconds)

    def step() -> int:
        return conductor.spent.steps + 1

    room = Room(order.task, sandbox, check_submission, seconds_left, step)
    conductor = Conductor(
        assignment,
        room,
        _meter(order, sandbox),
        trace,
        lambda step: order.audience.step_taken(run, step),
    )
    return conductor


def _meter(order: Order, sandbox: SandboxEnvironment) -> Meter:
    if order.task.grading is not None:
        return CodeMeter(order.task, order.prepared, sandbox)
    return ValidationMeter(order.task, order.prepared.public, sandbox)


async def _finish(order: Order, conductor: Conductor) -> Finish:
    try:
        await order.agent(conductor)
        finish = Finish(Ending.SUBMITTED if conductor.submitted else Ending.STOPPED)
    except RunOver as over:
        finish = Finish(over.ending)
    except LimitExceededError as limit:
        ending = _INSPECT_LIMITS.get(limit.type, Ending.STOPPED)
        finish = Finish(ending, str(limit))
    except BenchError as fault:
        finish = Finish(Ending.BROKEN, str(fault))
    except Exception as error:  # noqa: BLE001  # an agent may raise anything at all
        finish = Finish(Ending.CRASHED, f"{type(error).__name__}: {error}")
    if conductor.fault is not None:
        return Finish(Ending.BROKEN, str(conductor.fault))
    return finish


def _end(run: RunId, finish: Finish, conductor: Conductor, seconds: float) -> End:
    return End(
        run=str(run),
        ending=finish.ending,
        reason=finish.reason,
        spent=conductor.spent,
        seconds=round(seconds, 3),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
