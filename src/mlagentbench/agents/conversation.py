"""A chat with a model that is summarized in time, and the loop that agents share."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)

from mlagentbench.agents.context import Context
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import ask_for_action
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
)
from mlagentbench.core import shortened
from mlagentbench.environment import ACTIONS

logger = logging.getLogger(__name__)

_MAX_SUMMARIZED_CHARACTERS = 60_000
_SUMMARY = GenerateConfig(temperature=0.0, max_tokens=800)


class Conversation:
    """The messages so far: an opening, a summary of the oldest, and the others."""

    def __init__(
        self,
        system: str,
        opening: str,
        *,
        max_tokens: int = 100_000,
        max_exchanges: int = 1_000,
        kept: int = 2,
    ) -> None:
        # `kept` exchanges stay word for word when older ones are summarized.
        self._system = ChatMessageSystem(content=system)
        self._opening = opening
        self._max_tokens = max_tokens
        self._max_exchanges = max_exchanges
        self._kept = kept
        self._summary = ""
        self._exchanges: list[list[ChatMessage]] = []
        self._checkpoint = 0
        """Exchanges before it are kept by `return_to_checkpoint`."""

    def messages(self, now: str) -> list[ChatMessage]:
        """Return the conversation, followed by the current status or question."""
        opening = [self._opening]
        if self._summary:
            opening.append(f"## Earlier steps, summed up\n\n{self._summary}")
        return [
            self._system,
            ChatMessageUser(content="\n\n".join(opening)),
            *(message for exchange in self._exchanges for message in exchange),
            ChatMessageUser(content=now),
        ]

    def add(self, exchange: Sequence[ChatMessage]) -> None:
        self._exchanges.append(list(exchange))

    def set_checkpoint(self) -> None:
        self._checkpoint = len(self._exchanges)

    def return_to_checkpoint(self) -> None:
        del self._exchanges[self._checkpoint :]

    async def summarize_if_long(self, context: Context, output: ModelOutput) -> None:
        """Summarize the oldest exchanges if the last request was long."""
        used = output.usage.input_tokens if output.usage else 0
        if used > self._max_tokens or len(self._exchanges) > self._max_exchanges:
            await self._summarize(context)

    async def make_fit(self, context: Context) -> bool:
        """Shorten a conversation that exceeds the context; False if it is empty."""
        if await self._summarize(context):
            return True
        dropped = bool(self._exchanges)
        self._exchanges, self._checkpoint = [], 0
        return dropped

    async def _summarize(self, context: Context) -> bool:
        """Summarize all but the last exchanges; False if there are no others."""
        kept = self._kept
        old, recent = self._exchanges[:-kept], self._exchanges[-kept:]
        if not old:
            return False
        logger.debug("summarizing %d exchanges", len(old))
        self._exchanges = recent
        self._checkpoint = max(0, self._checkpoint - len(old))
        text = "\n\n".join(message.text for exchange in old for message in exchange)
        question = prompt(
            "summary",
            before=self._summary or "nothing",
            steps=shortened(text, _MAX_SUMMARIZED_CHARACTERS),
        )
        reply = await context.ask(
            [ChatMessageUser(content=question)], role="helper", config=_SUMMARY
        )
        self._summary = reply.completion.strip() or self._summary
        return True


MAX_BAD_REPLIES = 5
"""In a row; then the agent gives up and the workspace is graded as it is."""


@dataclass(frozen=True)
class ChatStyle:
    """The protocol and the prompts of one chatting agent."""

    protocol: ReplyProtocol
    format: ReplyFormat
    config: GenerateConfig
    next: str
    """The question for the next action."""
    shows_measured: bool = True
    """Whether the model reads the validation scores that the harness measured."""


async def chat(context: Context, style: ChatStyle, conversation: Conversation) -> None:
    """Ask and act until the model gives its answer or too many replies are bad."""
    question, bad_replies = style.next, 0
    while bad_replies < MAX_BAD_REPLIES:
        messages = conversation.messages(question)
        parsed = await ask_for_action(
            context, style.protocol, style.format, messages, style.config
        )
        if parsed.too_long and await conversation.make_fit(context):
            continue
        if isinstance(parsed.result, Malformed):
            question, bad_replies = parsed.result.why, bad_replies + 1
            await context.reject(reply_text(parsed.output), question)
            continue
        request = parsed.result
        step = await context.act(request.action, said=request.fields, **request.input)
        if ACTIONS[request.action].ends_run:
            return
        seen = step.told if style.shows_measured else step.observation
        conversation.add(style.protocol.exchange(parsed.output, seen))
        await conversation.summarize_if_long(context, parsed.output)
        left = context.remaining().steps
        question, bad_replies = f"{style.next} {left} steps are left.", 0


_MARGIN = 1.2


class Pace:
    """The longest trial so far, measured by the budget's clock."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left = context.remaining().seconds
        self._longest = 0.0

    def another_fits(self) -> bool:
        """End a trial; return whether one as long as the longest still fits."""
        left = self._context.remaining().seconds
        self._longest = max(self._longest, self._left - left)
        self._left = left
        return left > _MARGIN * self._longest


_MAX_TRACEBACK = 600
_PLACE = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>[0-9]{1,6})')


def short_traceback(observation: str) -> str:
    """Return the exception of a failed script and the last line of its own code."""
    lines = [line.rstrip() for line in observation.splitlines() if line.strip()]
    places = [
        number
        for number, line in enumerate(lines)
        if (found := _PLACE.search(line)) and "/workspace/" in found["file"]
    ]
    if not places:
        return "\n".join(lines[-4:])[-_MAX_TRACEBACK:]
    place = places[-1]
    return "\n".join([*lines[place : place + 2], lines[-1]])[-_MAX_TRACEBACK:]
