"""The plainest loop: a model says one move after another until it has its answer."""

from dataclasses import dataclass

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.languages.hearing import hear
from mlagentbench.agents.languages.language import Form, Language
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.moves import Malformed
from mlagentbench.environment.actions import ACTIONS

BAD_REPLIES_AT_MOST = 5
"""In a row; then it gives up, with what lies in the workspace."""


@dataclass(frozen=True)
class Manner:
    """How one agent talks."""

    language: Language
    form: Form
    config: GenerateConfig
    next: str
    """What it says to have the model go on."""


async def talk(context: Context, manner: Manner, conversation: Conversation) -> None:
    """Talk until the model gives its answer, or no reply can be used any more."""
    remark, bad_replies = manner.next, 0
    while bad_replies < BAD_REPLIES_AT_MOST:
        messages = conversation.messages(remark)
        heard = await hear(
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
