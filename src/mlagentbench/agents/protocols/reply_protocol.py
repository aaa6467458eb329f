"""The contract of the reply protocols, and replies as text and as messages."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo
from pydantic import Field

from mlagentbench.agents.protocols.json_reader import RefusedError, as_text
from mlagentbench.core import MAX_CHARACTERS, Record, clean_text
from mlagentbench.environment import Action

TRUNCATED = (
    "Your reply was cut off by the length limit, so nothing was done."
    " Answer again, and be brief."
)
REPLY_TOO_LONG = (
    f"Your reply is longer than {MAX_CHARACTERS} characters and was not read."
    " Answer again, and be brief."
)


@dataclass(frozen=True)
class ReplyFormat:
    """The actions and fields of a reply."""

    actions: tuple[Action, ...]
    """The actions that the prompt lists."""
    fields: tuple[str, ...] = ()
    """The texts before the action, in this order: `Thought`, `Fact Check`."""
    accepted: tuple[Action, ...] = ()
    """Actions that are accepted though the prompt does not list them."""

    @property
    def known(self) -> dict[str, Action]:
        """Every accepted action, by name."""
        return {action.name: action for action in (*self.actions, *self.accepted)}


class ActionRequest(Record):
    """One action that a model asks for, with the fields of its reply."""

    action: str
    input: dict[str, str]
    fields: dict[str, str] = Field(default_factory=dict)
    """The texts beside the action, such as a thought or a plan, by name."""


class Malformed(Record):
    """A reply without a usable action."""

    why: str
    """Shown to the model: what is wrong, and how to answer."""
    request: ActionRequest | None = None
    """Set if the reply names an action whose input could not be read."""


ParsedReply = ActionRequest | Malformed


class ReplyProtocol(ABC):
    """A way to request an action: text fields, tool calls, or one JSON object."""

    shows_its_end: ClassVar[bool] = True
    """Whether a truncated reply can never be read as a complete request."""

    @abstractmethod
    def explanation(self, format: ReplyFormat) -> str:
        """Explain in markdown how to answer; it becomes a part of the prompt."""

    def tools(self, format: ReplyFormat) -> Sequence[ToolInfo]:  # noqa: ARG002  # for overrides
        """Return the tools that the request offers."""
        return ()

    @abstractmethod
    def config(self, format: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        """Return the request's settings with those of this protocol added."""

    def parse(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        """Parse any reply into a request or a complaint; never raises."""
        if not output.choices:
            return self._read(output, format)
        if len(output.message.text) > MAX_CHARACTERS:
            return Malformed(why=REPLY_TOO_LONG)
        parsed = self._read(output, format)
        if output.stop_reason != "max_tokens":
            return parsed
        if isinstance(parsed, Malformed):
            return Malformed(why=TRUNCATED, request=parsed.request)
        if self.shows_its_end:
            return parsed
        return Malformed(why=TRUNCATED, request=parsed)

    @abstractmethod
    def _read(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        """Read a reply that is not too long; the caller checks for truncation."""

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return a reply and its observation as messages of the conversation."""
        return [text_message(reply_text(output)), ChatMessageUser(content=observation)]


_NOTHING = "(no reply)"
"""Replaces an empty reply: providers refuse messages without content."""
_THINKING = ("<think>", "</think>")
_NOT_IN_A_TOOL_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


def reply_text(output: ModelOutput) -> str:
    """Return the text of a reply without its thinking, up to the length limit."""
    if not output.choices:
        return ""
    text = clean_text(output.message.text[:MAX_CHARACTERS]).strip()
    opening, closing = _THINKING
    if text.startswith(opening) and closing in text:
        return text.partition(closing)[2].strip()
    return text


def tool_calls(output: ModelOutput) -> list[ToolCall]:
    """Return the unchecked tool calls of a reply."""
    return list(output.message.tool_calls or []) if output.choices else []


def text_message(text: str) -> ChatMessageAssistant:
    """Return plain text of a model as a message."""
    return ChatMessageAssistant(content=text or _NOTHING)


def reply_message(output: ModelOutput) -> ChatMessageAssistant:
    """Return a reply as a message that can be sent, with thinking and tool calls."""
    if not output.choices:
        return text_message("")
    calls = [_clean_call(call) for call in tool_calls(output)]
    content = _clean_content(output.message.content)
    return output.message.model_copy(
        update={
            "content": content if content or calls else _NOTHING,
            "tool_calls": calls or None,
        }
    )


def _clean_content(content: str | list[Content]) -> str | list[Content]:
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
    """Check that a part can be encoded; thinking is signed and must not change."""
    try:
        part.model_dump_json()
    except ValueError:
        return False
    return True


def _clean_call(call: ToolCall) -> ToolCall:
    arguments = {}
    for key, value in call.arguments.items():
        # As text, because a nested value may not be sendable.
        try:
            text = as_text(value)[:MAX_CHARACTERS]
        except RefusedError:
            text = ""
        arguments[clean_text(str(key))] = text
    return ToolCall(
        id=clean_text(call.id),
        function=_NOT_IN_A_TOOL_NAME.sub("_", call.function)[:64] or "nameless",
        arguments=arguments,
        parse_error=clean_text(call.parse_error) if call.parse_error else None,
        type=call.type,
    )
