"""The budget of a run, and RunOver, which ends a run from inside."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from inspect_ai.util import LimitExceededError

from mlagentbench.agents import Remaining
from mlagentbench.core import Budget, Ending, ModelCall, Seconds, Spent
from mlagentbench.experiment import RecordedRun

_TO_REACT = 5.0
"""Seconds to act on the last reply, or to return after the final answer."""


class BudgetMeter:
    """One run's budget: recorded steps, and the time that came after the last one.

    The agent's own time is all time in which the harness does nothing for it. While a
    run is replayed, that time is already part of the recorded steps.
    """

    def __init__(self, budget: Budget, past: RecordedRun) -> None:
        self._budget = budget
        self._past = past
        self._timeout: asyncio.Timeout | None = None
        self._open_calls = 0
        """Calls of the agent that the harness has not answered yet."""
        self._since = time.monotonic()
        """When the agent's own code went on."""
        self._agent_seconds = 0.0
        self._seconds_left: list[float] = []
        self.spent = Spent()
        self.model_seconds = 0.0
        """Since the last step."""
        self.submitted = False

    @asynccontextmanager
    async def limits(self, worked: float) -> AsyncIterator[None]:
        """Stop the agent inside at the end of its time; `worked` is already used."""
        longest = self._budget.longest_minutes
        wall = asyncio.timeout(longest * 60 - worked)
        own = self._timeout = asyncio.timeout(None)
        try:
            async with wall, own:
                self._go_on()
                yield
        except TimeoutError:
            if own.expired():
                ending = Ending.SUBMITTED if self.submitted else Ending.OUT_OF_TIME
                raise RunOver(ending) from None
            if wall.expired():
                why = f"wall-time limit of {longest:g} minutes"
                raise RunOver(Ending.OUT_OF_TIME, why) from None
            raise

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the agent's clock while the harness works for it."""
        if self._open_calls == 0:
            self._agent_seconds += time.monotonic() - self._since
        self._open_calls += 1
        self._set_deadline(None)
        try:
            yield
        finally:
            self._open_calls -= 1
            if self._open_calls == 0:
                self._go_on()

    def _go_on(self) -> None:
        self._since = time.monotonic()
        if self.submitted:
            allowed = _TO_REACT
        elif self._past.lasts:
            allowed = self._budget.minutes * 60
        else:
            allowed = self._left(self.spent_now()).seconds
            if self.model_seconds:
                allowed = max(allowed, _TO_REACT)
        self._set_deadline(asyncio.get_running_loop().time() + allowed)

    def _set_deadline(self, when: float | None) -> None:
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(when)

    @property
    def agent_seconds(self) -> float:
        """The agent's own time since the last step."""
        if self._past.lasts:
            return 0.0
        running = 0.0 if self._open_calls else time.monotonic() - self._since
        return self._agent_seconds + running

    def spent_now(self) -> Spent:
        """Return the recorded spending with the time since then."""
        since = Seconds(model=self.model_seconds, agent=self.agent_seconds)
        return self.with_step(since, (), counts=False)

    def remaining(self) -> Remaining:
        """Answer an agent; a replayed one gets the same answer again."""
        if self._past.lasts:
            left, seconds = self._left(self.spent), self._past.seconds_left()
            return left.model_copy(
                update={} if seconds is None else {"seconds": seconds}
            )
        left = self._left(self.spent_now())
        self._seconds_left.append(left.seconds)
        return left

    def take_answers(self) -> tuple[float, ...]:
        """Return the answers of `remaining()` that are not recorded yet."""
        taken = tuple(self._seconds_left)
        self._seconds_left.clear()
        return taken

    def start_step(self, spent: Spent) -> None:
        """Go on from a recorded step."""
        self.spent = spent
        self.model_seconds = self._agent_seconds = 0.0

    def _left(self, spent: Spent) -> Remaining:
        budget = self._budget
        return Remaining(
            steps=budget.steps - spent.steps,
            seconds=max(0.0, budget.minutes * 60 - spent.seconds),
            tokens=None if budget.tokens is None else budget.tokens - spent.tokens,
            cost_usd=None if budget.cost_usd is None else budget.cost_usd - spent.cost,
        )

    def exhausted(self, calls: Sequence[ModelCall], seconds: Seconds) -> Ending | None:
        """Return the limit that was reached, counting calls that led to no step yet."""
        left = self._left(self.with_step(seconds, calls, counts=False))
        limits = {
            Ending.OUT_OF_STEPS: left.steps,
            Ending.OUT_OF_TIME: left.seconds,
            Ending.OUT_OF_TOKENS: left.tokens,
            Ending.OUT_OF_COST: left.cost_usd,
        }
        reached = (
            end for end, rest in limits.items() if rest is not None and rest <= 0
        )
        return next(reached, None)

    def with_step(
        self, seconds: Seconds, calls: Sequence[ModelCall], *, counts: bool
    ) -> Spent:
        """Return the spent budget once one more step is recorded."""
        used = seconds.model + seconds.execute + seconds.agent
        tokens = [
            call.usage.get(kind, 0) for call in calls for kind in ("input", "output")
        ]
        return Spent(
            steps=self.spent.steps + int(counts),
            seconds=round(self.spent.seconds + used, 3),
            tokens=self.spent.tokens + sum(tokens),
            cost=self.spent.cost + sum(call.cost or 0.0 for call in calls),
        )


FREE_CHECK_SECONDS = 20.0
"""Of submitted code in all Check Submission steps of a run together."""


def counted_seconds(before: float, now: float) -> float:
    """Return the seconds of a check that the time budget counts.

    `before` are those of earlier checks. Otherwise checks would be free computing.
    """
    free = max(0.0, FREE_CHECK_SECONDS - before)
    return max(0.0, now - free)


_INSPECT_LIMITS = {
    "token": Ending.OUT_OF_TOKENS,
    "cost": Ending.OUT_OF_COST,
    "time": Ending.OUT_OF_TIME,
    "working": Ending.OUT_OF_TIME,
    "message": Ending.OUT_OF_STEPS,
    "turn": Ending.OUT_OF_STEPS,
}


class RunOver(BaseException):
    """The end of a run; a BaseException, so that agents do not catch it."""

    def __init__(
        self, ending: Ending, reason: str | None = None, traceback: str | None = None
    ) -> None:
        super().__init__(ending)
        self.ending = ending
        self.reason = reason
        self.traceback = traceback


def from_inspect_limit(limit: LimitExceededError) -> RunOver:
    """Return the end of a run that one of Inspect's own limits causes."""
    return RunOver(_INSPECT_LIMITS.get(limit.type, Ending.STOPPED), str(limit))
