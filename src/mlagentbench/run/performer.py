"""Carrying out one action in a room, and measuring what an execution left behind."""

import time
from collections.abc import Mapping

from mlagentbench.core.errors import ActionError, SandboxError, blame
from mlagentbench.core.record import Record
from mlagentbench.core.trace import Measurement
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.room import Room
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.meter import Measured, Meter


class Outcome(Record):
    """What came of one action."""

    observation: str
    ok: bool
    error: str | None = None
    validation: Measurement | None = None
    note: str | None = None
    """What we found out ourselves, told to the agent beside the observation."""
    executing: float = 0.0
    """Seconds the agent's own code ran."""


class Performer:
    """Does what an agent asks for; its mistakes become observations."""

    def __init__(self, room: Room, meter: Meter) -> None:
        self._room = room
        self._meter = meter

    async def perform(self, name: str, given: Mapping[str, object]) -> Outcome:
        """Carry out an action by name."""
        action = ACTIONS.get(name)
        if action is None:
            names = ", ".join(ACTIONS)
            text = f"there is no action {shortened(name, 80)!r}; there are: {names}"
            return Outcome(observation=text, ok=False, error="unknown_action")
        with blame(SandboxError, f"the action {name} failed"):
            if not action.executes:
                return await self._do(action, given)
            await self._meter.before_execution()
            outcome = await self._do(action, given)
            return _with_measurement(outcome, await self._meter.after_execution())

    async def _do(self, action: Action, given: Mapping[str, object]) -> Outcome:
        clock = time.monotonic()
        try:
            text, error = await action.perform(self._room, given), None
        except ActionError as refused:
            text, error = str(refused), "action_failed"
        executing = time.monotonic() - clock if action.executes else 0.0
        return Outcome(
            observation=shortened(text),
            ok=error is None,
            error=error,
            executing=executing,
        )


def _with_measurement(outcome: Outcome, measured: Measured) -> Outcome:
    if measured.value is not None:
        value = measured.value
        note = f"validation {value.metric}={value.value:.6g} (measured)"
    elif measured.problem is not None:
        note = f"validation could not be measured: {measured.problem}"
    else:
        return outcome
    return outcome.model_copy(update={"note": note, "validation": measured.value})
