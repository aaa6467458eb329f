"""AutoGPT's loop.

Each reply is one JSON object. Its memory is AutoGPT's running summary: what falls out
of the last few exchanges is summed up, and goes before everything asked later.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import ChatStyle, Conversation, talk
from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import (
    as_move,
    as_text,
    exactly,
    inputs_of,
    listed,
)
from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    first_object,
)
from mlagentbench.agents.protocols.protocol import (
    TOO_MUCH,
    Malformed,
    ParsedReply,
    ReplyFormat,
)
from mlagentbench.agents.protocols.replies import (
    as_words,
    said_too_much,
    spoken,
    unless_truncated,
)
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
_FORM = ReplyFormat(
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
    manner = ChatStyle(
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


_TEXT = JSONSchema(type="string")


@dataclass(frozen=True)
class AutoGptLanguage:
    """One JSON object with `thoughts` and a `command`."""

    constrained: bool
    """Whether the provider holds the model to the format."""

    def explanation(self, form: ReplyFormat) -> str:
        """List the commands and show the format."""
        return prompt("autogpt_format", commands=listed(form.actions))

    def tools(self, form: ReplyFormat) -> Sequence[ToolInfo]:  # noqa: ARG002  # the contract's
        """Return no tools."""
        return ()

    def config(self, form: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        """Hold the reply to the format, where that is wanted."""
        if not self.constrained:
            return config
        schema = ResponseSchema(name="command", json_schema=_schema(form))
        return config.model_copy(update={"response_schema": schema})

    def understand(self, output: ModelOutput, form: ReplyFormat) -> ParsedReply:
        """Read the object; one whose last brace is there was not cut off."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        return unless_truncated(_understood(spoken(output), form), output, sure=True)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply and what came of it."""
        result = f"The command returned:\n{observation}"
        return [as_words(spoken(output)), ChatMessageUser(content=result)]


def _understood(text: str, form: ReplyFormat) -> ParsedReply:
    try:
        said = first_object(text).value
        command = said.get("command")
        if not isinstance(command, dict) or not isinstance(command.get("name"), str):
            raise RefusedError('it has no "command" with a "name"')
    except ReadingError as reason:
        return Malformed(why=f"Your reply could not be used: {reason}.")
    return as_move(
        command["name"],
        command.get("args", {}),
        _said(said.get("thoughts"), form),
        form,
    )


def _said(thoughts: object, form: ReplyFormat) -> dict[str, str]:
    if not isinstance(thoughts, dict):
        return {}
    said: dict[str, str] = {}
    for field in form.fields:
        try:
            said[field] = as_text(thoughts.get(_key(field)))
        except RefusedError:
            continue
    return said


def _schema(form: ReplyFormat) -> JSONSchema:
    names = [action.name for action in form.actions]
    command = exactly(
        {
            "name": JSONSchema(type="string", enum=list(names)),
            "args": inputs_of(form.actions),
        }
    )
    thoughts = exactly({_key(field): _TEXT for field in form.fields})
    return exactly({"thoughts": thoughts, "command": command})


def _key(field: str) -> str:
    return "text" if field == "Thoughts" else field.lower()
