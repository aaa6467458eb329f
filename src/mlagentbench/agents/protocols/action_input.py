"""The name and the input of an action, in any spelling that models use."""

import json
from collections.abc import Mapping

from inspect_ai.util import JSONSchema

from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    UnreadableError,
    as_text,
    extract,
    object_at,
    read_leniently,
)
from mlagentbench.agents.protocols.reply_protocol import (
    ActionRequest,
    Malformed,
    ParsedReply,
    ReplyFormat,
)
from mlagentbench.core import MAX_CHARACTERS, clean_name
from mlagentbench.environment import Action

_LONGEST_NAME = 200


def make_request(
    name: str, given: object, fields: dict[str, str], format: ReplyFormat
) -> ParsedReply:
    """Return the request, or a complaint if the action or its input is wrong.

    An error in place of the input is the reason why there is none.
    """
    actions = {normalized(action.name): action for action in format.known.values()}
    action = actions.get(normalized(name)) if len(name) <= _LONGEST_NAME else None
    if action is None:
        names = ", ".join(action.name for action in format.actions)
        return Malformed(
            why=f'There is no action "{clean_name(name)}". The actions are: {names}.'
        )
    try:
        return ActionRequest(
            action=action.name, input=_check_input(action, given), fields=fields
        )
    except ReadingError as reason:
        return Malformed(
            why=f"The input of {action.name} could not be used: {reason}."
            f" {action.usage}.",
            request=ActionRequest(action=action.name, input={}, fields=fields),
        )


def normalized(name: str) -> str:
    """Return the letters and digits of a name, in one case."""
    return "".join(filter(str.isalnum, name[:_LONGEST_NAME].casefold()))


def _check_input(action: Action, given: object) -> dict[str, str]:
    """Return an action's input as texts, if it has exactly the expected keys."""
    if isinstance(given, ReadingError):
        raise given
    if isinstance(given, str):
        empty = not action.parameters and not given.strip()
        given = {} if empty else _read_input(given, action)
    if not isinstance(given, Mapping):
        raise RefusedError("it is not a JSON object")
    if set(given) != set(action.parameters):
        raise RefusedError("its keys are not the expected ones")
    texts = {name: as_text(given[name]) for name in action.parameters}
    if sum(len(text) for text in texts.values()) > MAX_CHARACTERS:
        raise RefusedError(f"it is longer than {MAX_CHARACTERS} characters")
    return texts


def _read_input(text: str, action: Action) -> Mapping[str, object]:
    start = text.find("{")
    if start < 0:
        raise UnreadableError("it is not a JSON object")
    attempts = (
        lambda: object_at(text, start).value,
        # Models often forget the last brace; nothing can be lost with it.
        lambda: read_leniently(text.rstrip("`\n ") + "}", start)[0],
        lambda: extract(text, action.parameters),
    )
    for attempt in attempts:
        try:
            return attempt()
        except UnreadableError:
            continue
    raise UnreadableError(
        "it is not valid JSON; escape quotes and line breaks in texts"
    )


def list_actions(actions: tuple[Action, ...]) -> str:
    """Return the actions as a markdown list, each with the input it takes."""
    lines = []
    for action in actions:
        sample = {name: f"<{text}>" for name, text in action.parameters.items()}
        written = json.dumps(sample, ensure_ascii=False)
        lines.append(f"- {action.name}: {action.summary} Input: {written}")
    return "\n".join(lines)


def exact_object(properties: dict[str, JSONSchema]) -> JSONSchema:
    """Return the schema of an object with these properties and no others."""
    return JSONSchema(
        type="object",
        properties=properties,
        required=list(properties),
        additionalProperties=False,
    )


def inputs_schema(actions: tuple[Action, ...]) -> JSONSchema:
    """Return the schema of the inputs of these actions."""
    # Many actions take the same keys; a shape that is listed twice slows a grammar.
    shapes = dict.fromkeys(tuple(action.parameters) for action in actions)
    inputs = [
        exact_object({key: JSONSchema(type="string") for key in shape})
        for shape in shapes
    ]
    return inputs[0] if len(inputs) == 1 else JSONSchema(anyOf=inputs)
