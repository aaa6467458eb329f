"""Steps as they are recorded: each one found in the past, or lived and written down."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from mlagentbench.core.errors import ActionError
from mlagentbench.core.trace import Measurement, Seconds, Step
from mlagentbench.run.account import Account
from mlagentbench.run.asking import Asker
from mlagentbench.run.performer import Outcome
from mlagentbench.run.replay import Past
from mlagentbench.run.tracefile import TraceWriter

Listener = Callable[[Step], None]
"""Told of every step as soon as it is recorded."""


class Keeper(Protocol):
    """Keeps the workspace as it was after each step."""

    async def take(self, validation: Measurement | None) -> str | None:
        """Keep the workspace as it is now and return the snapshot's name."""
        ...

    async def thin_out(self) -> None:
        """Drop what the last snapshot, now that it is recorded, makes superfluous."""
        ...

    async def restore(self, snapshot: str) -> tuple[str, ...]:
        """Make the workspace what it was; return files that are no longer kept."""
        ...

    async def bring_back(self, snapshot: str) -> None:
        """Make the workspace exactly what it was, or say what is missing."""
        ...


@dataclass(frozen=True)
class Wish:
    """What is to become a step."""

    action: str
    given: dict[str, str]
    perform: Callable[[], Awaitable[Outcome]]
    """Does it, where it was not done before."""
    turn: int
    """Of the agent's own."""
    said: dict[str, str] = field(default_factory=dict)
    counts: bool = True


class Recorder:
    """One run's steps, from the first on."""

    def __init__(
        self,
        run: str,
        keeper: Keeper,
        past: Past,
        trace: TraceWriter,
        listener: Listener,
    ) -> None:
        self._run = run
        self._keeper = keeper
        self._past = past
        self._trace = trace
        self._listener = listener
        self._workspace_is_current = past.last is None
        self._snapshots: list[str | None] = []

    @property
    def next_step(self) -> int:
        """The number of the step under way."""
        return len(self._snapshots) + 1

    async def step(self, wish: Wish, asker: Asker, account: Account) -> Step:
        """Return the step that comes of a wish, recorded."""
        step = self._past.step(wish.action, wish.given)
        if step is None:
            step = await self._live(wish, asker, account)
        account.spent = step.spent
        self._snapshots.append(step.snapshot)
        asker.begin_anew()
        return step

    async def bring_workspace_up_to_date(self) -> None:
        """Restore the last step's workspace, if a replay has not touched it yet."""
        if not self._workspace_is_current and self._past.last is not None:
            self._workspace_is_current = True
            if self._past.last.snapshot is not None:
                await self._keeper.bring_back(self._past.last.snapshot)

    async def go_back(self, step: int) -> tuple[str, ...]:
        """Make the workspace what it was after a step; return what is missing."""
        last = len(self._snapshots)
        if not 1 <= step <= last:
            raise ActionError(f"there is no step {step}; the last one was {last}")
        snapshot = self._snapshots[step - 1]
        if snapshot is None:
            raise ActionError(f"the workspace after step {step} was not kept")
        return await self._keeper.restore(snapshot)

    async def _live(self, wish: Wish, asker: Asker, account: Account) -> Step:
        await self.bring_workspace_up_to_date()
        started, clock, asked = datetime.now(UTC), time.monotonic(), asker.seconds
        outcome = await wish.perform()
        snapshot = await self._keeper.take(outcome.validation)
        took = time.monotonic() - clock - (asker.seconds - asked)
        seconds = Seconds(
            model=round(asker.seconds, 3),
            execute=round(outcome.executing, 3),
            harness=round(max(0.0, took - outcome.executing), 3),
        )
        step = Step(
            run=self._run,
            step=self.next_step,
            agent_step=wish.turn,
            calls=tuple(asker.calls),
            fields=wish.said,
            action=wish.action,
            input=wish.given,
            observation=outcome.observation,
            ok=outcome.ok,
            error=outcome.error,
            validation=outcome.validation,
            note=outcome.note,
            snapshot=snapshot,
            spent=account.with_step(seconds, asker.calls, counts=wish.counts),
            seconds=seconds,
            started=started.isoformat(timespec="milliseconds"),
        )
        self._trace.append(step)
        await self._keeper.thin_out()
        self._listener(step)
        return step
