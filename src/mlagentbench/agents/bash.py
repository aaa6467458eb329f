"""The smallest modern scaffold: a model with a shell, and nothing else."""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.languages.choose import language_for
from mlagentbench.agents.languages.hearing import hear
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.moves import Malformed
from mlagentbench.agents.prompting import prompt
from mlagentbench.agents.settings import read_count, refuse_unknown
from mlagentbench.environment.actions import ACTIONS

BAD_REPLIES_AT_MOST = 5
"""In a row; then it gives up, with what lies in the workspace."""

_FORM = Form(actions=(ACTIONS["Run Command"], ACTIONS["Final Answer"]))
_CONFIG = GenerateConfig(max_tokens=4_000)
_NEXT = "What is your next command?"


async def bash(context: Context) -> None:
    """Run one command after another until the model has its answer."""
    refuse_unknown(context.settings, ("protocol", "context"))
    language = language_for(context.settings.get("protocol", "auto"), context.speech)
    conversation = Conversation(
        prompt("bash", answering=language.explanation(_FORM)),
        context.problem,
        most_tokens=read_count(context.settings, "context", 100_000, most=10_000_000),
    )
    remark, bad_replies = _NEXT, 0
    while bad_replies < BAD_REPLIES_AT_MOST:
        heard = await hear(
            context, language, _FORM, conversation.messages(remark), _CONFIG
        )
        if heard.too_long and await conversation.shorten(context):
            continue
        if isinstance(heard.understood, Malformed):
            remark, bad_replies = heard.understood.why, bad_replies + 1
            await context.reject(spoken(heard.output), remark)
            continue
        move = heard.understood
        step = await context.act(move.action, said=move.said, **move.given)
        if move.action == "Final Answer":
            return
        conversation.add(language.exchange(heard.output, step.told))
        remark, bad_replies = f"{_NEXT} {context.remaining().steps} steps are left.", 0
        if conversation.has_grown_long(heard.output):
            await conversation.shorten(context)
