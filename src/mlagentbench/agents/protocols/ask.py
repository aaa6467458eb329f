"""Choose a protocol; ask a model for its next action."""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, StopReason

from mlagentbench.agents.context import Context, ProtocolName
from mlagentbench.agents.protocols.json_schema import SchemaLanguage
from mlagentbench.agents.protocols.protocol import (
    REFUSED,
    TOO_LONG,
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
)
from mlagentbench.agents.protocols.text_fields import TextLanguage
from mlagentbench.agents.protocols.tool_calls import ToolsLanguage
from mlagentbench.core.errors import UsageError

_LANGUAGES: dict[str, ReplyProtocol] = {
    "text": TextLanguage(),
    "tools": ToolsLanguage(),
    "schema": SchemaLanguage(),
}
_BEST = "auto"


def language_for(protocol: str, speech: ProtocolName) -> ReplyProtocol:
    """Return the language of that name; `auto` is what the provider is best at."""
    name = speech if protocol == _BEST else protocol
    if name not in _LANGUAGES:
        raise UsageError(
            f"there is no protocol '{protocol}';"
            f" choose {', '.join(_LANGUAGES)} or {_BEST}"
        )
    return _LANGUAGES[name]


@dataclass(frozen=True)
class Parsed:
    """A reply and what it comes to."""

    output: ModelOutput
    understood: ParsedReply
    too_long: bool = False
    """Whether the messages did not fit: asked with fewer, the model may answer."""


async def ask_for_action(
    context: Context,
    language: ReplyProtocol,
    form: ReplyFormat,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
) -> Parsed:
    """Ask once and understand; whatever the reply is, this does not raise."""
    output = await context.ask(
        messages, tools=language.tools(form), config=language.config(form, config)
    )
    match _stop_reason(output):
        case "content_filter":
            return Parsed(output, Malformed(why=REFUSED))
        case "model_length":
            return Parsed(output, Malformed(why=TOO_LONG), too_long=True)
        case _:
            return Parsed(output, language.understand(output, form))


def _stop_reason(output: ModelOutput) -> StopReason:
    return output.stop_reason if output.choices else "unknown"
