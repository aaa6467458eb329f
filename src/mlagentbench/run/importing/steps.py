"""The original's steps and turns become steps of ours."""

import hashlib
from collections.abc import Sequence

from mlagentbench.core.trace import REJECTED, Seconds, Spent, Step
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.importing.deeds import Deed
from mlagentbench.run.importing.history import AgentLog, Turn
from mlagentbench.run.importing.texts import written
from mlagentbench.run.rejecting import as_input

_REFUSALS = {
    "The action input for ": "bad_reply",
    "EnvError: The action input for ": "bad_reply",
    "EnvError:": "action_failed",
    "LLMError:": "action_failed",
    "The environment has shut down": "action_failed",
    "Invalid action:": "unknown_action",
}
"""How the original's observation begins where an action was not done."""
_TRACEBACK = "Traceback (most recent call last):"


def steps_of(
    run: str, deeds: Sequence[Deed], log: AgentLog, total: float | None
) -> tuple[Step, ...]:
    """Put a run's steps in order, with the replies that came to none between them."""
    told = _Telling(run, _beginning(deeds, total))
    for event in _in_order(deeds, log.malformed):
        if isinstance(event, Turn):
            told.add_unread(event)
        else:
            told.add(event, log)
    return tuple(told.steps)


class _Telling:
    """A run told again, step by step."""

    def __init__(self, run: str, begun: float) -> None:
        self.steps: list[Step] = []
        self._run = run
        self._begun = self._now = begun
        self._turns = 0
        self._taken = 0

    def add(self, deed: Deed, log: AgentLog) -> None:
        """Add what the environment did, with what the agent said to it."""
        said = log.by_step.get(deed.number)
        if said is not None or not log.by_step:
            self._turns += 1
        began, self._now = self._now, max(self._now, deed.at or 0.0)
        self._taken = deed.number
        error = _error(deed)
        text = shortened(deed.observation)
        digest = hashlib.sha256(deed.observation.encode()).hexdigest()
        self._append(
            fields=said.fields if said is not None else {},
            action=deed.action,
            input=deed.given,
            observation=text,
            observation_blob=None if text == deed.observation else digest,
            ok=error is None,
            error=error,
            seconds=_spent_on(deed.action, self._now - began),
            started=written(began),
        )

    def add_unread(self, turn: Turn) -> None:
        """Add a reply whose input could not be read."""
        self._turns += 1
        said = "\n".join(f"{name}: {text}" for name, text in turn.said.items())
        self._append(
            fields=turn.fields,
            action=REJECTED,
            input=as_input(said),
            observation=turn.observation,
            ok=False,
            error="bad_reply",
            seconds=Seconds(),
            started=written(self._now),
        )

    def _append(self, **said: object) -> None:
        lasted = round(self._now - self._begun, 3)
        counted = {
            "run": self._run,
            "step": len(self.steps) + 1,
            "agent_step": max(self._turns, 1),
            "spent": Spent(steps=self._taken, seconds=lasted),
        }
        self.steps.append(Step.model_validate(counted | said))


def _in_order(deeds: Sequence[Deed], malformed: Sequence[Turn]) -> list[Deed | Turn]:
    """Put each unreadable reply behind the step after which it came."""
    placed: list[tuple[tuple[int, int], Deed | Turn]] = []
    placed += [((deed.number, 0), deed) for deed in deeds]
    placed += [((turn.after, 1), turn) for turn in malformed]
    return [event for _, event in sorted(placed, key=lambda one: one[0])]


def _beginning(deeds: Sequence[Deed], total: float | None) -> float:
    """Return when the run began: so long before its last step as it took."""
    moments = [deed.at for deed in deeds if deed.at is not None]
    if not moments:
        return 0.0
    return max(0.0, min(min(moments), max(moments) - (total or 0.0)))


def _error(deed: Deed) -> str | None:
    for beginning, error in _REFUSALS.items():
        if deed.observation.startswith(beginning):
            return error
    return "action_failed" if _executes(deed.action) and _raised(deed) else None


def _raised(deed: Deed) -> bool:
    """Tell whether a script failed: the original says so by its traceback only."""
    return _TRACEBACK in deed.observation


def _spent_on(action: str, seconds: float) -> Seconds:
    """Say what a step's time went into, most of it: running code, or thinking."""
    took = round(seconds, 3)
    return Seconds(execute=took) if _executes(action) else Seconds(model=took)


def _executes(action: str) -> bool:
    return action in ACTIONS and ACTIONS[action].executes
