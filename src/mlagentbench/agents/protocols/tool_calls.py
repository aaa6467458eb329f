"""Native tool calls, and those written as text."""

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
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import as_move
from mlagentbench.agents.protocols.json_reader import (
    RefusedError,
    UnreadableError,
    first_object,
)
from mlagentbench.agents.protocols.protocol import (
    TOO_MUCH,
    Malformed,
    ParsedReply,
    ReplyFormat,
)
from mlagentbench.agents.protocols.replies import (
    as_message,
    said_too_much,
    spoken,
    tool_calls,
    unless_truncated,
)
from mlagentbench.agents.protocols.text_fields import fields_said, sections
from mlagentbench.environment.action import Action

_ONE_CALL = "Call exactly one tool in each reply."


class ToolsLanguage:
    """Tool calls, for models whose providers take tools."""

    def explanation(self, form: ReplyFormat) -> str:
        """Ask for one call; the tools explain themselves."""
        headers = "\n".join(f"{field}: ..." for field in form.fields)
        before = f" Before the call write:\n\n{headers}" if headers else ""
        return prompt("language_tools", before=before)

    def tools(self, form: ReplyFormat) -> Sequence[ToolInfo]:
        """Return one tool per action a model is told of."""
        return [_as_tool(action) for action in form.actions]

    def config(self, form: ReplyFormat, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002  # the contract's
        """Ask for one call at a time where a provider can be asked for it."""
        return config.model_copy(update={"parallel_tool_calls": False})

    def understand(self, output: ModelOutput, form: ReplyFormat) -> ParsedReply:
        """Read the one call; a call that arrived whole was not cut off."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        return unless_truncated(_understood(output, form), output, sure=True)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply and an answer to each of its calls."""
        message = as_message(output)
        calls = message.tool_calls or []
        if not calls:
            return [message, ChatMessageUser(content=observation)]
        return [message, *(_answer(call, observation) for call in calls)]


def _understood(output: ModelOutput, form: ReplyFormat) -> ParsedReply:
    text = spoken(output)
    calls = [_as_written(call) for call in tool_calls(output)]
    said_beside = text
    if not calls:
        calls, said_beside = written_calls(text)
    if not calls:
        return Malformed(why=f"Your reply calls no tool. {_ONE_CALL}")
    if len(calls) > 1:
        return Malformed(why=f"Your reply calls {len(calls)} tools. {_ONE_CALL}")
    said = fields_said(sections(said_beside, form), form)
    return as_move(calls[0].name, calls[0].arguments, said, form)


@dataclass(frozen=True)
class WrittenCall:
    """A call as it stands in a reply, not yet checked."""

    name: str
    arguments: object


def _as_written(call: ToolCall) -> WrittenCall:
    broken = RefusedError("it is not valid JSON") if call.parse_error else None
    return WrittenCall(name=call.function, arguments=broken or call.arguments)


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


def _answer(call: ToolCall, observation: str) -> ChatMessageTool:
    return ChatMessageTool(
        content=observation, tool_call_id=call.id, function=call.function
    )


_NAMES = ("name", "function", "tool")
_ARGUMENTS = ("arguments", "parameters")
_TAG = "<tool_call>"
_MOST = 8


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
