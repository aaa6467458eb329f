"""The schema protocol: one JSON object, whose shape a provider can enforce."""

import json

from inspect_ai.model import GenerateConfig, ModelOutput, ResponseSchema
from inspect_ai.util import JSONSchema

from mlagentbench.agents.prompt_files import prompt
from mlagentbench.agents.protocols.action_input import (
    exact_object,
    inputs_schema,
    list_actions,
    make_request,
    normalized,
)
from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    as_text,
    first_object,
    unique_keys,
)
from mlagentbench.agents.protocols.reply_protocol import (
    Malformed,
    ParsedReply,
    ReplyFormat,
    ReplyProtocol,
    reply_text,
)

_ACTION = "action"
_INPUT = "input"
_INPUT_KEYS = ("input", "actioninput", "arguments", "parameters")
_ANSWER_SO = f'Answer with one JSON object that has "{_ACTION}" and "{_INPUT}".'


class SchemaProtocol(ReplyProtocol):
    """One JSON object per reply; a truncated one lacks its last brace."""

    def explanation(self, format: ReplyFormat) -> str:
        sample: dict[str, object] = {field_key(field): "..." for field in format.fields}
        sample |= {_ACTION: "<name of one action>", _INPUT: {"<key>": "<text>"}}
        shape = json.dumps(sample, ensure_ascii=False, indent=2)
        actions = list_actions(format.actions)
        return prompt("protocol_schema", actions=actions, sample=shape)

    def config(self, format: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        text = JSONSchema(type="string")
        names = [action.name for action in format.actions]
        shape = exact_object(
            {
                **{field_key(field): text for field in format.fields},
                _ACTION: JSONSchema(type="string", enum=list(names)),
                _INPUT: inputs_schema(format.actions),
            }
        )
        schema = ResponseSchema(name="move", json_schema=shape, strict=True)
        return config.model_copy(update={"response_schema": schema})

    def _read(self, output: ModelOutput, format: ReplyFormat) -> ParsedReply:
        text = reply_text(output)
        try:
            if not text:
                raise RefusedError("it is empty")
            found = first_object(text).value.items()
            # Only letters and digits of the keys count.
            reply = unique_keys([(normalized(key), item) for key, item in found])
            if not isinstance(reply.get(_ACTION), str):
                raise RefusedError("it names no action")
        except ReadingError as reason:
            why = f"Your reply could not be used: {reason}. {_ANSWER_SO}"
            return Malformed(why=why)
        inputs = [reply[key] for key in _INPUT_KEYS if key in reply]
        twice = RefusedError(f'"{_INPUT}" must stand in the reply once')
        given = inputs[0] if len(inputs) == 1 else twice
        return make_request(str(reply[_ACTION]), given, _fields(reply, format), format)


def _fields(reply: dict[str, object], format: ReplyFormat) -> dict[str, str]:
    fields: dict[str, str] = {}
    for field in format.fields:
        value = reply.get(normalized(field))
        if value is None:
            continue
        try:
            fields[field] = as_text(value)
        except RefusedError:
            fields[field] = ""
    return fields


def field_key(field: str) -> str:
    return field.lower().replace(" ", "_")
