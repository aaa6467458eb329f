"""A model's reply as text, and as a message that a conversation can go on with."""

import re

from inspect_ai.model import (
    ChatMessageAssistant,
    Content,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall

from mlagentbench.agents.protocols.action_input import as_text
from mlagentbench.agents.protocols.json_reader import RefusedError
from mlagentbench.agents.protocols.protocol import (
    CUT_OFF,
    ActionRequest,
    Malformed,
    ParsedReply,
)
from mlagentbench.core.text import MAX_CHARACTERS, clean_text

_NOTHING = "(no reply)"
"""Stands for an empty reply: providers refuse messages without content."""
_THINKING = ("<think>", "</think>")
_NOT_IN_A_TOOL_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


def spoken(output: ModelOutput) -> str:
    """Return what a model said aloud, as far as it is read."""
    if not output.choices:
        return ""
    text = clean_text(output.message.text[:MAX_CHARACTERS]).strip()
    opening, closing = _THINKING
    if text.startswith(opening) and closing in text:
        return text.partition(closing)[2].strip()
    return text


def said_too_much(output: ModelOutput) -> bool:
    """Tell whether a reply is too long to be read."""
    return bool(output.choices) and len(output.message.text) > MAX_CHARACTERS


def tool_calls(output: ModelOutput) -> list[ToolCall]:
    """Return the calls a reply makes, just as they came."""
    return list(output.message.tool_calls or []) if output.choices else []


def unless_truncated(
    understood: ParsedReply, output: ModelOutput, *, sure: bool
) -> ParsedReply:
    """Return what was understood unless the length limit may have cut it off.

    `sure` says that what was understood as a move cannot lack anything.
    """
    if not output.choices or output.stop_reason != "max_tokens":
        return understood
    if isinstance(understood, ActionRequest):
        return understood if sure else Malformed(why=CUT_OFF, move=understood)
    return Malformed(why=CUT_OFF, move=understood.move)


def as_message(output: ModelOutput) -> ChatMessageAssistant:
    """Return a reply as a message, thoughts and calls included, fit to be sent."""
    if not output.choices:
        return ChatMessageAssistant(content=_NOTHING)
    message = output.message
    calls = [_sound_call(call) for call in tool_calls(output)]
    content = _sound_content(message.content)
    return message.model_copy(
        update={
            "content": content if content or calls else _NOTHING,
            "tool_calls": calls or None,
        }
    )


def as_words(text: str) -> ChatMessageAssistant:
    """Return plain words of a model as a message."""
    return ChatMessageAssistant(content=text or _NOTHING)


def _sound_content(content: str | list[Content]) -> str | list[Content]:
    if isinstance(content, str):
        return clean_text(content[:MAX_CHARACTERS]).strip()
    cleaned = [
        part.model_copy(update={"text": clean_text(part.text)})
        if isinstance(part, ContentText)
        else part
        for part in content
    ]
    return [part for part in cleaned if _can_be_sent(part)]


def _can_be_sent(part: Content) -> bool:
    """Tell whether a part can be encoded; thoughts are signed and must not change."""
    try:
        part.model_dump_json()
    except ValueError:
        return False
    return True


def _sound_call(call: ToolCall) -> ToolCall:
    function = _NOT_IN_A_TOOL_NAME.sub("_", call.function)[:64] or "nameless"
    return ToolCall(
        id=clean_text(call.id),
        function=function,
        arguments={
            clean_text(str(key)): _sound_argument(value)
            for key, value in call.arguments.items()
        },
        parse_error=clean_text(call.parse_error) if call.parse_error else None,
        type=call.type,
    )


def _sound_argument(value: object) -> str:
    """Return an argument as the text our tools take: nested it may not be sendable."""
    try:
        return as_text(value)[:MAX_CHARACTERS]
    except RefusedError:
        return ""
