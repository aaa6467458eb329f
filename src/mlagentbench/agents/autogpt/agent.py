"""AutoGPT's loop on our actions: thoughts, reasoning, plan, criticism, then a command.

Each reply is one JSON object. Its memory is AutoGPT's running summary: what falls out
of the last few exchanges is summed up, and goes before everything asked later.
"""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.autogpt.language import AutoGptLanguage
from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Conversation
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.prompting import prompt
from mlagentbench.agents.settings import read_choice, read_count, refuse_unknown
from mlagentbench.agents.talking import Manner, talk
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
_FORM = Form(
    actions=tuple(ACTIONS[name] for name in COMMANDS),
    fields=("Thoughts", "Reasoning", "Plan", "Criticism"),
)


async def autogpt(context: Context) -> None:
    """Go round its loop until it gives its answer or up."""
    settings = context.settings
    refuse_unknown(settings, ("protocol", "remembers"))
    choices = ("text", "schema", "auto")
    protocol = read_choice(settings, "protocol", choices, "auto")
    constrained = "schema" in (protocol, context.speech if protocol == "auto" else "")
    language = AutoGptLanguage(constrained=constrained)
    remembers = read_count(settings, "remembers", 6, most=100)
    manner = Manner(
        language=language,
        form=_FORM,
        config=GenerateConfig(temperature=0.0, max_tokens=4_000),
        next="Determine exactly one command to use, in the JSON format above.",
    )
    conversation = Conversation(
        prompt("autogpt", answering=language.explanation(_FORM)),
        context.problem,
        kept=remembers,
        most_exchanges=remembers,
    )
    await talk(context, manner, conversation)
