"""The budget of a run, and RunOver, which ends a run from inside."""

from collections.abc import Sequence

from inspect_ai.util import LimitExceededError

from mlagentbench.agents import Remaining
from mlagentbench.core import Budget, Ending, ModelCall, Seconds, Spent


class BudgetMeter:
    """One run's budget; only recorded steps change what is spent."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.spent = Spent()

    def remaining(self, spent: Spent | None = None) -> Remaining:
        """Return the budget that remains now, or once `spent` is spent."""
        budget, spent = self._budget, spent or self.spent
        return Remaining(
            steps=budget.steps - spent.steps,
            seconds=max(0.0, budget.minutes * 60 - spent.seconds),
            tokens=None if budget.tokens is None else budget.tokens - spent.tokens,
            cost_usd=None if budget.cost_usd is None else budget.cost_usd - spent.cost,
        )

    def exhausted(self, calls: Sequence[ModelCall], seconds: Seconds) -> Ending | None:
        """Return the limit that was reached, counting calls that led to no step yet."""
        left = self.remaining(self.with_step(seconds, calls, counts=False))
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
        used = [
            call.usage.get(kind, 0) for call in calls for kind in ("input", "output")
        ]
        return Spent(
            steps=self.spent.steps + int(counts),
            seconds=round(self.spent.seconds + seconds.model + seconds.execute, 3),
            tokens=self.spent.tokens + sum(used),
            cost=self.spent.cost + sum(call.cost or 0.0 for call in calls),
        )


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

    def __init__(self, ending: Ending, reason: str | None = None) -> None:
        super().__init__(ending)
        self.ending = ending
        self.reason = reason


def from_inspect_limit(limit: LimitExceededError) -> RunOver:
    """Return the end of a run that one of Inspect's own limits causes."""
    return RunOver(_INSPECT_LIMITS.get(limit.type, Ending.STOPPED), str(limit))
