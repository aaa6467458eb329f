"""AutoGPT's loop on our actions: thoughts, reasoning, plan, criticism, then a command.

Each reply is one JSON object. Its memory is AutoGPT's running summary: what falls out
of the last few exchanges is summed up, and goes before everything asked later.
"""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.autogpt.language import AutoGptLanguage
from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.languages.hearing import hear
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.replies import spoken
from mlagentbench.agents.moves import Malformed
from mlagentbench.agents.prompting import prompt
from mlagentbench.agents.settings import read_choice, read_count, refuse_unknown
from mlagentbench.environment.actions import ACTIONS

COMMANDS = (
    "List Files",
    "Read File",
    "Write File",
    "Append File",
    "Edit Script (AI)",
    "Execute Script",
    "Python REPL",
    "Final Answer",
)
BAD_REPLIES_AT_MOST = 5
"""In a row; then it gives up, with what lies in the workspace."""

_FORM = Form(
    actions=tuple(ACTIONS[name] for name in COMMANDS),
    fields=("Thoughts", "Reasoning", "Plan", "Criticism"),
)
_CONFIG = GenerateConfig(temperature=0.0, max_tokens=4_000)
_NEXT = "Determine exactly one command to use, and answer in the JSON format above."


async def autogpt(context: Context) -> None:
    """Go round its loop until it gives its answer or up."""
    settings = context.settings
    refuse_unknown(settings, ("protocol", "remembers"))
    choices = ("text", "schema", "auto")
    protocol = read_choice(settings, "protocol", choices, "auto")
    constrained = "schema" in (protocol, context.speech if protocol == "auto" else "")
    language = AutoGptLanguage(constrained=constrained)
    remembers = read_count(settings, "remembers", 6, most=100)
    conversation = Conversation(
        prompt("autogpt", answering=language.explanation(_FORM)),
        context.problem,
        most_tokens=100_000,
        kept=remembers,
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
        remark, bad_replies = _NEXT, 0
        if conversation.length > remembers:
            await conversation.shorten(context)
