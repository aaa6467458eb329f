"""The smallest modern scaffold: a model with a shell, and nothing else."""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import ChatStyle, Conversation, talk
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import language_for
from mlagentbench.agents.protocols.protocol import ReplyFormat
from mlagentbench.agents.settings import read_count, refuse_unknown
from mlagentbench.environment.actions import ACTIONS

_FORM = ReplyFormat(actions=(ACTIONS["Run Command"], ACTIONS["Final Answer"]))


async def bash(context: Context) -> None:
    """Run one command after another until the model has its answer."""
    settings = context.settings
    refuse_unknown(settings, ("protocol", "context"))
    language = language_for(settings.get("protocol", "auto"), context.speech)
    manner = ChatStyle(
        language=language,
        form=_FORM,
        config=GenerateConfig(max_tokens=4_000),
        next="What is your next command?",
    )
    conversation = Conversation(
        prompt("bash", answering=language.explanation(_FORM)),
        context.problem,
        most_tokens=read_count(settings, "context", 100_000, most=10_000_000),
    )
    await talk(context, manner, conversation)
