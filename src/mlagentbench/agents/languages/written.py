"""Tool calls that a model wrote into its text instead of making them."""

from dataclasses import dataclass
from typing import Any

from mlagentbench.agents.languages.objects import first_object
from mlagentbench.agents.languages.strict import RefusedError, UnreadableError

_NAMES = ("name", "function", "tool")
_ARGUMENTS = ("arguments", "parameters")
_TAG = "<tool_call>"
_MOST = 8


@dataclass(frozen=True)
class WrittenCall:
    """A call as it stands in a reply, not yet checked."""

    name: str
    arguments: object


def written_calls(text: str) -> tuple[list[WrittenCall], str]:
    """Return the calls that stand in a text, and what was said before the first."""
    calls: list[WrittenCall] = []
    before, at = text, 0
    for _ in range(_MOST):
        try:
            found = first_object(text, at)
        except (UnreadableError, RefusedError):
            break
        if (call := _as_call(found.value)) is not None:
            before = before if calls else _before(text[: found.start])
            calls.append(call)
        at = found.end
    return calls, before


def _as_call(found: dict[str, Any]) -> WrittenCall | None:
    names = [key for key in _NAMES if key in found]
    arguments = [key for key in _ARGUMENTS if key in found]
    if len(found) != 2 or len(names) != 1 or len(arguments) != 1:
        return None
    name = found[names[0]]
    if not isinstance(name, str):
        return None
    return WrittenCall(name=name, arguments=found[arguments[0]])


def _before(said: str) -> str:
    """Return words without the tag or the fence that they end in."""
    said = said.rstrip().removesuffix(_TAG).rstrip()
    return said.removesuffix("```json").rstrip("`\n ")
