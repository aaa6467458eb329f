"""Providers `scripted` and `replay`: models whose replies exist beforehand.

A YAML file holds a list of replies, each a text or a mapping with `text`, `tool_calls`
(`name` and `arguments`), `usage` (`input`, `output`, `cached`) and `stop_reason` (such
as `max_tokens`). The number of the assistant's messages so far selects the reply. A
function gets the messages and returns one such reply. The reply depends only on the
conversation, so a resumed run gets the same replies as an undisturbed one.
"""

import importlib
from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo
from pydantic import Field

from mlagentbench.core import Record, ReplayError, UsageError
from mlagentbench.experiment import read_trace
from mlagentbench.run.model_calls import ModelRequest


class ScriptedCall(Record):
    """One call of a tool."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ScriptedUsage(Record):
    """The token counts that a reply reports."""

    input: int = 10
    output: int = 10
    cached: int = 0


class Reply(Record):
    """One reply."""

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage = ScriptedUsage()
    stop_reason: StopReason | None = None
    """None for a reply that is complete."""


Script = Callable[[list[ChatMessage]], Reply]


@modelapi(name="scripted")
class ScriptedModel(ModelAPI):
    """A model whose replies come from a file or a function."""

    def __init__(self, model_name: str, **options: Any) -> None:  # noqa: ANN401  # Inspect's
        super().__init__(model_name, **options)
        self._script = _load(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # Inspect's name
        tools: list[ToolInfo],  # noqa: ARG002  # Inspect's signature
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        return as_output(self._script(input), self.model_name, len(input))


def as_output(reply: Reply, model: str, turn: int) -> ModelOutput:
    calls = [
        ToolCall(
            id=f"call-{turn}-{number}", function=call.name, arguments=call.arguments
        )
        for number, call in enumerate(reply.tool_calls)
    ]
    message = ChatMessageAssistant(
        content=reply.text, tool_calls=calls or None, model=model, source="generate"
    )
    usage = reply.usage
    return ModelOutput(
        model=model,
        choices=[
            ChatCompletionChoice(
                message=message,
                stop_reason=reply.stop_reason or ("tool_calls" if calls else "stop"),
            )
        ],
        usage=ModelUsage(
            input_tokens=usage.input,
            output_tokens=usage.output,
            total_tokens=usage.input + usage.output,
            input_tokens_cache_read=usage.cached,
        ),
    )


def _load(name: str) -> Script:
    if name.endswith((".yaml", ".yml")):
        return _from_file(Path(name))
    module, colon, function = name.partition(":")
    if not colon:
        raise UsageError(
            f"scripted/{name}: name a YAML file of replies or module:function"
        )
    reply_to = getattr(importlib.import_module(module), function)
    return lambda messages: _reply(reply_to(messages))


def _from_file(path: Path) -> Script:
    if not path.is_file():
        raise UsageError(f"{path} does not exist; name a YAML file of replies")
    replies = [_reply(one) for one in yaml.safe_load(path.read_text(encoding="utf-8"))]

    def script(messages: list[ChatMessage]) -> Reply:
        turn = sum(message.role == "assistant" for message in messages)
        if turn >= len(replies):
            raise UsageError(f"{path} has only {len(replies)} replies; write more")
        return replies[turn]

    return script


def _reply(written: object) -> Reply:
    if isinstance(written, str):
        return Reply(text=written)
    return Reply.model_validate(written)


@modelapi(name="replay")
class ReplayModel(ModelAPI):
    """A model that repeats the replies of a recorded run."""

    def __init__(self, model_name: str, **options: Any) -> None:  # noqa: ANN401  # Inspect's
        super().__init__(model_name, **options)
        if not Path(model_name).is_file():
            raise UsageError(f"cannot replay {model_name}: no such trace")
        trace = read_trace(Path(model_name), model_name)
        calls = [call for step in trace.steps for call in step.calls]
        self._replies: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for call in [*calls, *trace.calls]:
            self._replies[call.request_sha].append(call.reply)

    async def generate(
        self,
        input: list[ChatMessage],  # Inspect's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002  # Inspect's signature
        config: GenerateConfig,
    ) -> ModelOutput:
        replies = self._replies.get(ModelRequest("", input, tools, config).sha)
        if not replies:
            raise ReplayError(f"{self.model_name} holds no reply to this request")
        # The same request may have had several replies; the last one is repeated.
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        return ModelOutput.model_validate(reply)
