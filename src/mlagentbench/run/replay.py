"""The past of a run that is taken up again: its replies and steps, in order.

A resumed agent is run from its beginning. As long as there is a past, what it asks
and does must be what it asked and did then, and it is answered from the record; no
model is called and no sandbox is touched. What an action asked while it was carried
out belongs to its step and is not asked again.
"""

from collections import deque
from collections.abc import Mapping

from mlagentbench.core.errors import ReplayError
from mlagentbench.core.trace import ModelCall, Step, Trace


class Past:
    """What is left to be replayed."""

    def __init__(self, trace: Trace) -> None:
        self._steps = deque(trace.steps)
        self._late = trace.calls
        self._calls: deque[ModelCall] = deque()
        self._next_calls()
        self.last = trace.steps[-1] if trace.steps else None

    def step(self, action: str, given: Mapping[str, object]) -> Step | None:
        """Return the recorded step, or None where the past is over."""
        if not self._steps:
            return None
        recorded = self._steps.popleft()
        if (recorded.action, recorded.input) != (action, dict(given)):
            raise ReplayError(
                f"agent not deterministic: step {recorded.step} was {recorded.action}"
                f" {_short(recorded.input)}, and is now {action} {_short(given)}"
            )
        if any(call.asked_by == "agent" for call in self._calls):
            raise ReplayError(
                f"agent not deterministic: before step {recorded.step} it asked its"
                " model more often than it does now"
            )
        self._next_calls()
        return recorded

    def call(self, role: str, request_sha: str) -> ModelCall | None:
        """Return the recorded reply, or None where the past is over."""
        if not self._calls and not self._steps:
            return None
        recorded = self._calls.popleft() if self._calls else None
        if recorded is None or (recorded.role, recorded.request_sha) != (
            role,
            request_sha,
        ):
            raise ReplayError(
                f"agent not deterministic: it asks its {role} model something else"
                " than it did before"
            )
        return recorded

    def _next_calls(self) -> None:
        self._calls = deque(self._steps[0].calls if self._steps else self._late)


def _short(given: Mapping[str, object]) -> str:
    text = ascii(dict(given))
    return text if len(text) <= 100 else f"{text[:97]}..."
