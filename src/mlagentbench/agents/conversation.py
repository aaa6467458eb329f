"""A conversation that is shortened in time; the plain loop."""

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
from mlagentbench.agents.protocols.protocol import Malformed, ReplyFormat, ReplyProtocol
from mlagentbench.agents.protocols.replies import spoken
from mlagentbench.core.text import shortened
from mlagentbench.environment.actions import ACTIONS

_KEPT = 2
"""Exchanges that stay word for word when older ones are summed up."""
_SUMMED_UP_CHARACTERS = 60_000
_SUMMARY = GenerateConfig(temperature=0.0, max_tokens=800)


class Conversation:
    """What was said so far: an opening, a summary of the oldest, and the rest."""

    def __init__(
        self,
        system: str,
        opening: str,
        *,
        most_tokens: int = 100_000,
        most_exchanges: int = 1_000,
        kept: int = _KEPT,
    ) -> None:
        self._system = ChatMessageSystem(content=system)
        self._opening = opening
        self._most_tokens = most_tokens
        self._most_exchanges = most_exchanges
        self._kept = kept
        self._summary = ""
        self._exchanges: list[list[ChatMessage]] = []
        self._settled = 0
        """Exchanges that are never forgotten, from the first on."""

    def messages(self, now: str) -> list[ChatMessage]:
        """Return everything to be said to the model, with how things stand now."""
        told = [self._opening]
        if self._summary:
            told.append(f"## Earlier steps, summed up\n\n{self._summary}")
        return [
            self._system,
            ChatMessageUser(content="\n\n".join(told)),
            *(message for exchange in self._exchanges for message in exchange),
            ChatMessageUser(content=now),
        ]

    def add(self, exchange: Sequence[ChatMessage]) -> None:
        """Go on with a reply and what came of it."""
        self._exchanges.append(list(exchange))

    def settle(self) -> None:
        """Stand by everything said so far."""
        self._settled = len(self._exchanges)

    def forget_the_rest(self) -> None:
        """Go back to what was said when it was last stood by."""
        del self._exchanges[self._settled :]

    async def shorten_in_time(self, context: Context, output: ModelOutput) -> None:
        """Sum up the oldest once there is much of it, told by the last reply."""
        used = output.usage.input_tokens if output.usage else 0
        if used > self._most_tokens or len(self._exchanges) > self._most_exchanges:
            await self._sum_up(context)

    async def make_fit(self, context: Context) -> bool:
        """Shorten what was too long for the model; False where nothing is left to."""
        if await self._sum_up(context):
            return True
        dropped = bool(self._exchanges)
        self._exchanges, self._settled = [], 0
        return dropped

    async def _sum_up(self, context: Context) -> bool:
        """Sum up all but the last exchanges; False where there are no others."""
        kept = self._kept
        old, recent = self._exchanges[:-kept], self._exchanges[-kept:]
        if not old:
            return False
        self._exchanges = recent
        self._settled = max(0, self._settled - len(old))
        text = "\n\n".join(message.text for exchange in old for message in exchange)
        asked = prompt(
            "summary",
            before=self._summary or "nothing",
            steps=shortened(text, _SUMMED_UP_CHARACTERS),
        )
        reply = await context.ask(
            [ChatMessageUser(content=asked)], role="helper", config=_SUMMARY
        )
        self._summary = reply.completion.strip() or self._summary
        return True


BAD_REPLIES_AT_MOST = 5
"""In a row; then it gives up, with what lies in the workspace."""


@dataclass(frozen=True)
class ChatStyle:
    """How one agent talks."""

    language: ReplyProtocol
    form: ReplyFormat
    config: GenerateConfig
    next: str
    """What it says to have the model go on."""


async def talk(context: Context, manner: ChatStyle, conversation: Conversation) -> None:
    """Talk until the model gives its answer, or no reply can be used any more."""
    remark, bad_replies = manner.next, 0
    while bad_replies < BAD_REPLIES_AT_MOST:
        messages = conversation.messages(remark)
        heard = await ask_for_action(
            context, manner.language, manner.form, messages, manner.config
        )
        if heard.too_long and await conversation.make_fit(context):
            continue
        if isinstance(heard.understood, Malformed):
            remark, bad_replies = heard.understood.why, bad_replies + 1
            await context.reject(spoken(heard.output), remark)
            continue
        move = heard.understood
        step = await context.act(move.action, said=move.said, **move.given)
        if ACTIONS[move.action].ends_run:
            return
        conversation.add(manner.language.exchange(heard.output, step.told))
        await conversation.shorten_in_time(context, heard.output)
        left = context.remaining().steps
        remark, bad_replies = f"{manner.next} {left} steps are left.", 0


_MARGIN = 1.2


class Pace:
    """The longest trial so far, by the budget's own clock."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left = context.remaining().seconds
        self._longest = 0.0

    def another_fits(self) -> bool:
        """End a trial; tell whether one as long as the longest still fits."""
        left = self._context.remaining().seconds
        self._longest = max(self._longest, self._left - left)
        self._left = left
        return left > _MARGIN * self._longest


_LONGEST = 600
_PLACE = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>[0-9]{1,6})')


def complaint(told: str) -> str:
    """Return the exception and the last line of the script it came from."""
    lines = [line.rstrip() for line in told.splitlines() if line.strip()]
    places = [
        number
        for number, line in enumerate(lines)
        if (found := _PLACE.search(line)) and "/workspace/" in found["file"]
    ]
    if not places:
        return "\n".join(lines[-4:])[-_LONGEST:]
    place = places[-1]
    return "\n".join([*lines[place : place + 2], lines[-1]])[-_LONGEST:]
