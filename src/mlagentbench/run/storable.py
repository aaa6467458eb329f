"""Text and replies that every file and every process can be given."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolCall

_DEEPEST = 50


def storable(texts: Mapping[str, str]) -> dict[str, str]:
    """Replace half characters, which a hostile reply may hold; nothing encodes them."""
    return {name: _sound(text) for name, text in texts.items()}


def recordable(output: ModelOutput) -> dict[str, Any]:
    """Return a model's reply as JSON that can be written, whatever it holds."""
    for choice in output.choices:
        calls = choice.message.tool_calls
        if calls:
            choice.message.tool_calls = [_shallow(call) for call in calls]
    reply: dict[str, Any] = output.model_dump(mode="json", exclude_none=True)
    return {name: _sound(value) for name, value in reply.items()}


def _shallow(call: ToolCall) -> ToolCall:
    if _depth_within(call.arguments, _DEEPEST):
        return call
    return ToolCall(
        id=call.id,
        function=call.function,
        arguments={},
        parse_error="the arguments are nested too deeply",
        type=call.type,
    )


def _depth_within(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_depth_within(one, depth - 1) for one in inner)


def _sound(value: Any) -> Any:  # noqa: ANN401  # any JSON
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case dict():
            return {_sound(key): _sound(one) for key, one in value.items()}
        case list():
            return [_sound(one) for one in value]
        case _:
            return value
