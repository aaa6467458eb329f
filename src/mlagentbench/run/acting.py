"""One run, from the agent's first action to the end of its trace."""

import time
from dataclasses import dataclass

from inspect_ai.model import GenerateConfig
from inspect_ai.util import LimitExceededError, SandboxEnvironment

from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import BenchError, ProviderError
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import End, Resumed, Trace
from mlagentbench.environment.room import Room, Told
from mlagentbench.run.asking import Asker
from mlagentbench.run.closing import now, worked
from mlagentbench.run.code_validation import CodeMeter, judged_before
from mlagentbench.run.conductor import Assignment, Conductor
from mlagentbench.run.keeping import WorkspaceKeeper
from mlagentbench.run.meter import Meter
from mlagentbench.run.order import Order
from mlagentbench.run.over import RunOver, over_by
from mlagentbench.run.performer import Performer
from mlagentbench.run.recorder import Recorder
from mlagentbench.run.replay import Past
from mlagentbench.run.speech import speech_of
from mlagentbench.run.submission import refusal
from mlagentbench.run.tracefile import TraceWriter, read_trace
from mlagentbench.run.validation import ValidationMeter


@dataclass(frozen=True)
class Finish:
    """How an agent's code came to its end."""

    ending: Ending
    reason: str | None = None


async def act_out(order: Order, run: RunId, sandbox: SandboxEnvironment) -> None:
    """Let the agent act until it is done or its budget is; the trace says all.

    A run that has a past goes through it again, without a model and without its
    sandbox, and then goes on from there.
    """
    path = order.experiment.trace(run)
    past = read_trace(path, str(run))
    order.audience.run_started(run, order.task)
    with TraceWriter(path) as trace:
        if past.steps or past.calls:
            trace.append(Resumed(run=str(run), step=len(past.steps), at=now()))
        conductor, recorder = _stage(order, run, sandbox, past, trace)
        clock = time.monotonic() - worked(past)
        finish = await _finish(order, conductor, recorder)
        trace.append(_end(run, finish, conductor, time.monotonic() - clock))
    order.audience.run_ended(run, finish.ending)


def _stage(
    order: Order,
    run: RunId,
    sandbox: SandboxEnvironment,
    past: Trace,
    trace: TraceWriter,
) -> tuple[Conductor, Recorder]:
    async def check_submission() -> str | None:
        return await refusal(order.task, order.prepared, sandbox)

    def seconds_left() -> float:
        longest = order.task.budget.execution_minutes * 60
        return min(longest, conductor.remaining().seconds)

    async def ask(prompt: str, *, role: str, config: GenerateConfig) -> Told:
        return await conductor.ask_inside(prompt, role=role, config=config)

    behind = Past(past)
    asker = Asker(str(run), behind, trace, order.models.prices)
    keeper = WorkspaceKeeper(order.task, order.experiment.snapshots, sandbox, past)
    recorder = Recorder(
        str(run),
        keeper,
        behind,
        trace,
        lambda step: order.audience.step_taken(run, step),
    )
    room = Room(
        task=order.task,
        sandbox=sandbox,
        check_submission=check_submission,
        seconds_left=seconds_left,
        step=lambda: recorder.next_step,
        ask=ask,
        restore=recorder.go_back,
        problem=order.problem,
    )
    performer = Performer(room, _meter(order, sandbox, past))
    conductor = Conductor(_assignment(order, run), performer, asker, recorder)
    return conductor, recorder


def _assignment(order: Order, run: RunId) -> Assignment:
    return Assignment(
        run=run,
        task=order.task,
        problem=order.problem,
        settings=order.settings,
        speech=speech_of(order.models.main),
    )


def _meter(order: Order, sandbox: SandboxEnvironment, past: Trace) -> Meter:
    if order.task.grading is None:
        return ValidationMeter(order.task, order.prepared.public, sandbox)
    known = judged_before(order.task, order.experiment.snapshots, past)
    return CodeMeter(order.task, order.prepared, sandbox, known)


async def _finish(order: Order, conductor: Conductor, recorder: Recorder) -> Finish:
    finish = await _agents_end(order, conductor)
    if not finish.ending.counts:
        return finish
    try:
        # What is collected must be there even if nothing was done but replayed.
        await recorder.bring_workspace_up_to_date()
    except BenchError as fault:
        return _blamed(fault)
    return finish


async def _agents_end(order: Order, conductor: Conductor) -> Finish:
    try:
        await order.agent(conductor)
        finish = Finish(Ending.SUBMITTED if conductor.submitted else Ending.STOPPED)
    except RunOver as over:
        finish = Finish(over.ending, over.reason)
    except LimitExceededError as limit:
        met = over_by(limit)
        finish = Finish(met.ending, met.reason)
    except BenchError as fault:
        finish = _blamed(fault)
    except Exception as error:  # noqa: BLE001  # an agent may raise anything at all
        finish = Finish(Ending.CRASHED, f"{type(error).__name__}: {error}")
    return finish if conductor.fault is None else _blamed(conductor.fault)


def _blamed(fault: BenchError) -> Finish:
    is_theirs = isinstance(fault, ProviderError)
    return Finish(Ending.PROVIDER_ERROR if is_theirs else Ending.BROKEN, str(fault))


def _end(run: RunId, finish: Finish, conductor: Conductor, seconds: float) -> End:
    return End(
        run=str(run),
        ending=finish.ending,
        reason=finish.reason,
        spent=conductor.spent,
        seconds=round(seconds, 3),
        at=now(),
    )
