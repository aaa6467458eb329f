"""AutoGPT's loop: thoughts, plan and criticism, then a command, in one JSON object.

Its memory is AutoGPT's running summary: exchanges older than the last few are
summarized, and the summary precedes every later request.
"""

import contextlib
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import ChatStyle, Conversation, chat
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import (
    exact_object,
    inputs_schema,
    list_actions,
    make_request,
)
from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    as_text,
    first_object,
)
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
    text_message,
)
from mlagentbench.agents.settings import AutoGptSettings
from mlagentbench.environment import ACTIONS

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
_FORMAT = ReplyFormat(
    actions=tuple(ACTIONS[name] for name in COMMANDS),
    fields=("Thoughts", "Reasoning", "Plan", "Criticism"),
)


async def autogpt(context: Context) -> None:
    """Run AutoGPT's loop until the model gives its answer or the agent gives up."""
    settings = AutoGptSettings.read(context.settings)
    chosen = context.protocol if settings.protocol == "auto" else settings.protocol
    protocol = AutoGptProtocol(constrained=chosen == "schema")
    style = ChatStyle(
        protocol=protocol,
        format=_FORMAT,
        config=GenerateConfig(temperature=0.0, max_tokens=4_000),
        next="Determine exactly one command to use, in the JSON format above.",
        # The paper's agents saw only the output of scripts. Tasks with visible
        # labels keep the note, because it is in the prompts of recorded runs.
        shows_measured=not context.task.hides_validation,
    )
    conversation = Conversation(
        prompt("autogpt", answering=protocol.explanation(_FORMAT)),
        context.problem,
        kept=settings.remembers,
        max_exchanges=settings.remembers,
    )
    await chat(context, style, conversation)


@dataclass(frozen=True)
class AutoGptProtocol(ReplyProtocol):
    """One JSON object with `thoughts` and a `command`."""

    constrained: bool
    """Whether the provider constrains the reply to the format."""

    def explanation(self, format: ReplyFormat) -> str:
        return prompt("autogpt_format", commands=list_actions(format.actions))

    def config(self, format: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        if not self.constrained:
            return config
        names = [action.name for action in format.actions]
        command = {
            "name": JSONSchema(type="string", enum=list(names)),
            "args": inputs_schema(format.actions),
        }
        text = JSONSchema(type="string")
        thoughts = exact_object({_key(field): text for field in format.fields})
        shape = exact_object({"thoughts": thoughts, "command": exact_object(command)})
        schema = ResponseSchema(name="command", json_schema=shape)
        return config.model_copy(update={"response_schema": schema})

    def _read(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        try:
            reply = first_object(reply_text(output)).value
            command = reply.get("command")
            if not isinstance(command, dict) or not isinstance(
                command.get("name"), str
            ):
                raise RefusedError('it has no "command" with a "name"')
        except ReadingError as reason:
            return Malformed(why=f"Your reply could not be used: {reason}.")
        thoughts = reply.get("thoughts")
        written = thoughts if isinstance(thoughts, dict) else {}
        fields: dict[str, str] = {}
        for field in format.fields:
            with contextlib.suppress(RefusedError):
                fields[field] = as_text(written.get(_key(field)))
        return make_request(command["name"], command.get("args", {}), fields, format)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        result = f"The command returned:\n{observation}"
        return [text_message(reply_text(output)), ChatMessageUser(content=result)]


def _key(field: str) -> str:
    return "text" if field == "Thoughts" else field.lower()
