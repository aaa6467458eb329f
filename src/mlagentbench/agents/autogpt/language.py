"""How AutoGPT's model answers: thoughts and a command in one JSON object."""

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

from mlagentbench.agents.languages.complaints import TOO_MUCH
from mlagentbench.agents.languages.explaining import listed
from mlagentbench.agents.languages.inputs import as_text
from mlagentbench.agents.languages.language import Form
from mlagentbench.agents.languages.moving import as_move
from mlagentbench.agents.languages.objects import first_object
from mlagentbench.agents.languages.replies import (
    as_words,
    heard_whole,
    said_too_much,
    spoken,
)
from mlagentbench.agents.languages.shapes import exactly, inputs_of
from mlagentbench.agents.languages.strict import ReadingError, RefusedError
from mlagentbench.agents.moves import Malformed, Understood
from mlagentbench.agents.prompting import prompt

_TEXT = JSONSchema(type="string")


@dataclass(frozen=True)
class AutoGptLanguage:
    """One JSON object with `thoughts` and a `command`."""

    constrained: bool
    """Whether the provider holds the model to the format."""

    def explanation(self, form: Form) -> str:
        """List the commands and show the format."""
        return prompt("autogpt_format", commands=listed(form.actions))

    def tools(self, form: Form) -> Sequence[ToolInfo]:  # noqa: ARG002  # the contract's
        """Return no tools."""
        return ()

    def config(self, form: Form, config: GenerateConfig) -> GenerateConfig:
        """Hold the reply to the format, where that is wanted."""
        if not self.constrained:
            return config
        schema = ResponseSchema(name="command", json_schema=_schema(form))
        return config.model_copy(update={"response_schema": schema})

    def understand(self, output: ModelOutput, form: Form) -> Understood:
        """Read the object; one whose last brace is there was not cut off."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        return heard_whole(_understood(spoken(output), form), output, sure=True)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply and what came of it."""
        result = f"The command returned:\n{observation}"
        return [as_words(spoken(output)), ChatMessageUser(content=result)]


def _understood(text: str, form: Form) -> Understood:
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


def _said(thoughts: object, form: Form) -> dict[str, str]:
    if not isinstance(thoughts, dict):
        return {}
    said: dict[str, str] = {}
    for field in form.fields:
        try:
            said[field] = as_text(thoughts.get(_key(field)))
        except RefusedError:
            continue
    return said


def _schema(form: Form) -> JSONSchema:
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
