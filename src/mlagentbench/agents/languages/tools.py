"""Native tool calls: one tool per action."""

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams

from mlagentbench.agents.languages.complaints import TOO_MUCH
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.moving import as_move
from mlagentbench.agents.languages.replies import (
    as_message,
    heard_whole,
    said_too_much,
    spoken,
    tool_calls,
)
from mlagentbench.agents.languages.sections import fields_said, sections
from mlagentbench.agents.languages.strict import RefusedError
from mlagentbench.agents.languages.written import WrittenCall, written_calls
from mlagentbench.agents.moves import Malformed, Understood
from mlagentbench.agents.prompting import prompt
from mlagentbench.environment.action import Action

_ONE_CALL = "Call exactly one tool in each reply."


class ToolsLanguage:
    """Tool calls, for models whose providers take tools."""

    def explanation(self, form: Form) -> str:
        """Ask for one call; the tools explain themselves."""
        headers = "\n".join(f"{field}: ..." for field in form.fields)
        before = f" Before the call write:\n\n{headers}" if headers else ""
        return prompt("language_tools", before=before)

    def tools(self, form: Form) -> Sequence[ToolInfo]:
        """Return one tool per action a model is told of."""
        return [_as_tool(action) for action in form.actions]

    def config(self, form: Form, config: GenerateConfig) -> GenerateConfig:  # noqa: ARG002  # the contract's
        """Ask for one call at a time where a provider can be asked for it."""
        return config.model_copy(update={"parallel_tool_calls": False})

    def understand(self, output: ModelOutput, form: Form) -> Understood:
        """Read the one call; a call that arrived whole was not cut off."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        return heard_whole(_understood(output, form), output, sure=True)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply and an answer to each of its calls."""
        message = as_message(output)
        calls = message.tool_calls or []
        if not calls:
            return [message, ChatMessageUser(content=observation)]
        return [message, *(_answer(call, observation) for call in calls)]


def _understood(output: ModelOutput, form: Form) -> Understood:
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
