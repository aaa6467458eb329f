"""The smallest modern scaffold: a model with a shell and no other action."""

from inspect_ai.model import GenerateConfig

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import ChatStyle, Conversation, chat
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.ask import find_protocol
from mlagentbench.agents.protocols.reply_protocol import ReplyFormat
from mlagentbench.agents.settings import BashSettings
from mlagentbench.environment import ACTIONS

_FORMAT = ReplyFormat(actions=(ACTIONS["Run Command"], ACTIONS["Final Answer"]))


async def bash(context: Context) -> None:
    """Run one command after another until the model gives its answer."""
    settings = BashSettings.read(context.settings)
    protocol = find_protocol(settings.protocol, context.protocol)
    style = ChatStyle(
        protocol=protocol,
        format=_FORMAT,
        config=GenerateConfig(max_tokens=4_000),
        next="What is your next command?",
    )
    conversation = Conversation(
        prompt("bash", answering=protocol.explanation(_FORMAT)),
        context.problem,
        max_tokens=settings.context,
    )
    await chat(context, style, conversation)
