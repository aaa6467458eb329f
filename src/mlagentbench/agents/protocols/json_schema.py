"""JSON after a schema, which a provider can hold a model to."""

import json
from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import (
    as_move,
    as_text,
    bare,
    exactly,
    inputs_of,
    listed,
)
from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    first_object,
    without_repeats,
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

_ACTION = "action"
_INPUT = "input"
_WORDS_FOR_INPUT = ("input", "actioninput", "arguments", "parameters")
_ANSWER_SO = f'Answer with one JSON object that has "{_ACTION}" and "{_INPUT}".'


class SchemaLanguage:
    """One JSON object per reply, its shape enforced where the provider can."""

    def explanation(self, form: ReplyFormat) -> str:
        """List the actions and show the shape of an answer."""
        sample: dict[str, object] = {_key(field): "..." for field in form.fields}
        sample |= {_ACTION: "<name of one action>", _INPUT: {"<key>": "<text>"}}
        shape = json.dumps(sample, ensure_ascii=False, indent=2)
        return prompt("language_schema", actions=listed(form.actions), sample=shape)

    def tools(self, form: ReplyFormat) -> Sequence[ToolInfo]:  # noqa: ARG002  # the contract's
        """Return no tools."""
        return ()

    def config(self, form: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        """Hold the reply to the form's schema."""
        schema = ResponseSchema(name="move", json_schema=_schema(form), strict=True)
        return config.model_copy(update={"response_schema": schema})

    def understand(self, output: ModelOutput, form: ReplyFormat) -> ParsedReply:
        """Read the object; one whose last brace is there was not cut off."""
        if said_too_much(output):
            return Malformed(why=TOO_MUCH)
        return unless_truncated(_understood(spoken(output), form), output, sure=True)

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return the reply and what came of it."""
        return [as_words(spoken(output)), ChatMessageUser(content=observation)]


def _understood(text: str, form: ReplyFormat) -> ParsedReply:
    try:
        reply = _read(text)
    except ReadingError as reason:
        return Malformed(why=f"Your reply could not be used: {reason}. {_ANSWER_SO}")
    return as_move(str(reply[_ACTION]), _input(reply), _said(reply, form), form)


def _read(text: str) -> dict[str, object]:
    """Return what the reply says, by keys of which only letters and digits count."""
    if not text:
        raise RefusedError("it is empty")
    said = first_object(text).value
    reply = without_repeats([(bare(key), value) for key, value in said.items()])
    if not isinstance(reply.get(_ACTION), str):
        raise RefusedError("it names no action")
    return reply


def _said(reply: dict[str, object], form: ReplyFormat) -> dict[str, str]:
    said: dict[str, str] = {}
    for field in form.fields:
        value = reply.get(bare(field))
        if value is None:
            continue
        try:
            said[field] = as_text(value)
        except RefusedError:
            said[field] = ""
    return said


def _input(reply: dict[str, object]) -> object:
    given = [reply[word] for word in _WORDS_FOR_INPUT if word in reply]
    if len(given) != 1:
        return RefusedError(f'"{_INPUT}" must stand in the reply once')
    return given[0]


def _schema(form: ReplyFormat) -> JSONSchema:
    fields = {_key(field): JSONSchema(type="string") for field in form.fields}
    names = [action.name for action in form.actions]
    return exactly(
        {
            **fields,
            _ACTION: JSONSchema(type="string", enum=list(names)),
            _INPUT: inputs_of(form.actions),
        }
    )


def _key(field: str) -> str:
    return field.lower().replace(" ", "_")
