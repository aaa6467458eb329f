"""The choice of a reply protocol, and one request for the next action."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput

from mlagentbench.agents.context import Context, ProtocolName
from mlagentbench.agents.protocols.json_schema import SchemaProtocol
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
)
from mlagentbench.agents.protocols.text_fields import TextProtocol
from mlagentbench.agents.protocols.tool_calls import ToolProtocol
from mlagentbench.agents.settings import ProtocolChoice

logger = logging.getLogger(__name__)

REFUSED = (
    "Your reply was withheld by the provider's content filter, so it counts as"
    " refused and nothing was done. Answer with a next step."
)
CONTEXT_EXCEEDED = (
    "The conversation is too long for the model's context; nothing was done."
)
_PROTOCOLS: dict[ProtocolName, ReplyProtocol] = {
    "text": TextProtocol(),
    "tools": ToolProtocol(),
    "schema": SchemaProtocol(),
}


def find_protocol(choice: ProtocolChoice, preferred: ProtocolName) -> ReplyProtocol:
    """Return the chosen protocol; `auto` is what the provider prefers."""
    return _PROTOCOLS[preferred if choice == "auto" else choice]


@dataclass(frozen=True)
class Parsed:
    """A reply and the result of parsing it."""

    output: ModelOutput
    result: ParsedReply
    too_long: bool = False
    """Whether the messages exceeded the context: with fewer, the model may answer."""


async def ask_for_action(
    context: Context,
    protocol: ReplyProtocol,
    format: ReplyFormat,
    messages: Sequence[ChatMessage],
    config: GenerateConfig,
) -> Parsed:
    """Ask once and parse; no reply makes this raise."""
    output = await context.ask(
        messages, tools=protocol.tools(format), config=protocol.config(format, config)
    )
    match output.stop_reason if output.choices else "unknown":
        case "content_filter":
            parsed = Parsed(output, Malformed(why=REFUSED))
        case "model_length":
            parsed = Parsed(output, Malformed(why=CONTEXT_EXCEEDED), too_long=True)
        case _:
            parsed = Parsed(output, protocol.parse(output, format))
    if isinstance(parsed.result, Malformed):
        logger.debug("malformed reply: %s", parsed.result.why)
    return parsed
