"""The tools protocol: native tool calls, and calls that a model wrote as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import make_request
from mlagentbench.agents.protocols.json_reader import (
    RefusedError,
    UnreadableError,
    first_object,
)
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
    reply_message,
    reply_text,
    tool_calls,
)
from mlagentbench.agents.protocols.text_fields import read_fields, split_sections
from mlagentbench.environment import Action

_ONE_CALL = "Call exactly one tool in each reply."


class ToolProtocol(ReplyProtocol):
    """Tool calls; one that arrived complete was not truncated."""

    def explanation(self, format: ReplyFormat) -> str:
        """Ask for one call; the tools have their own descriptions."""
        headers = "\n".join(f"{field}: ..." for field in format.fields)
        before = f" Before the call write:\n\n{headers}" if headers else ""
        return prompt("protocol_tools", before=before)

    def tools(self, format: ReplyFormat) -> Sequence[ToolInfo]:
        return [_as_tool(action) for action in format.actions]

    def config(self, format: ReplyFormat, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002  # the contract's
        """Turn off parallel calls for providers that can."""
        return config.model_copy(update={"parallel_tool_calls": False})

    def _read(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        text = reply_text(output)
        invalid = RefusedError("it is not valid JSON")
        calls = [
            WrittenCall(call.function, invalid if call.parse_error else call.arguments)
            for call in tool_calls(output)
        ]
        if not calls:
            calls, text = _find_calls(text)
        if not calls:
            return Malformed(why=f"Your reply calls no tool. {_ONE_CALL}")
        if len(calls) > 1:
            return Malformed(why=f"Your reply calls {len(calls)} tools. {_ONE_CALL}")
        fields = read_fields(split_sections(text, format), format)
        return make_request(calls[0].name, calls[0].arguments, fields, format)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        message = reply_message(output)
        calls = message.tool_calls or []
        if not calls:
            return [message, ChatMessageUser(content=observation)]
        answers = [
            ChatMessageTool(
                content=observation, tool_call_id=call.id, function=call.function
            )
            for call in calls
        ]
        return [message, *answers]


@dataclass(frozen=True)
class WrittenCall:
    """An unchecked call of a reply."""

    name: str
    arguments: object


def _as_tool(action: Action) -> ToolInfo:
    properties = {
        name: ToolParam(type="string", description=text)
        for name, text in action.parameters.items()
    }
    return ToolInfo(
        name=action.tool_name,
        description=action.summary,
        parameters=ToolParams(properties=properties, required=list(properties)),
    )


_NAMES = ("name", "function", "tool")
_ARGUMENTS = ("arguments", "parameters")
_TAG = "<tool_call>"
_MAX_CALLS = 8


def _find_calls(text: str) -> tuple[list[WrittenCall], str]:
    """Return the calls in a text, and the text before the first one."""
    calls: list[WrittenCall] = []
    before, at = text, 0
    for _ in range(_MAX_CALLS):
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


def _before(text: str) -> str:
    """Return text without the tag or the fence at its end."""
    text = text.rstrip().removesuffix(_TAG).rstrip()
    return text.removesuffix("```json").rstrip("`\n ")
