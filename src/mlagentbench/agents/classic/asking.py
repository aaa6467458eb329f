"""Asking the model until its reply is in format, a few times at most."""

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig

from mlagentbench.agents.classic.manner import Manner
from mlagentbench.agents.classic.memory import Memory
from mlagentbench.agents.context import Context
from mlagentbench.agents.languages.hearing import Heard, hear
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.languages.sections import ACTION, ACTION_INPUT, sections
from mlagentbench.agents.moves import Malformed, Move
from mlagentbench.agents.prompting import prompt

TRIES = 5

_CONFIG = GenerateConfig(temperature=0.5, max_tokens=2_000)


async def hear_in_format(
    context: Context, manner: Manner, memory: Memory
) -> Heard | None:
    """Return a reply that names an action, or None where no try brought one."""
    habits, form = manner.habits, manner.form
    reminders: list[ChatMessage] = []
    fewer = 0
    for attempt in range(1, TRIES + 1):
        messages = [*memory.messages(fewer), *reminders]
        heard = await hear(context, habits.language, form, messages, _CONFIG)
        if is_in_format(heard, manner):
            return heard
        if heard.too_long:
            fewer += 1
        elif manner.reminds:
            # The bad reply itself is not shown: a model would copy it.
            reminders.append(_reminder(manner))
        if attempt == TRIES:
            await context.reject(spoken(heard.output), _gave_up(heard), counts=False)
    return None


def is_in_format(heard: Heard, manner: Manner) -> bool:
    """Tell whether a reply names an action and has all fields, empty ones included."""
    move = named(heard)
    if move is None:
        return False
    if manner.habits.protocol == "tools":
        # Models that call tools often say nothing beside the call.
        return True
    headers = {name for name, _ in sections(spoken(heard.output), manner.form)}
    return set(manner.form.fields) <= headers | set(move.said)


def named(heard: Heard) -> Move | None:
    """Return the action that a reply names, though its input may be unreadable."""
    match heard.understood:
        case Malformed(move=move):
            return move
        case move:
            return move


def _reminder(manner: Manner) -> ChatMessage:
    parts = ", ".join([*manner.form.fields, ACTION, ACTION_INPUT])
    return ChatMessageUser(content=prompt("classic_reminder", parts=parts))


def _gave_up(heard: Heard) -> str:
    match heard.understood:
        case Malformed(why=why):
            reason = why
        case _:
            reason = "Fields are missing."
    return f"No reply was in format in {TRIES} tries. {reason}"
