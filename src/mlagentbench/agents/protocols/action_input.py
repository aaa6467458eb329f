"""Name and input of an action, however written."""

import json
from collections.abc import Mapping

from inspect_ai.util import JSONSchema

from mlagentbench.agents.protocols.json_reader import (
    ReadingError,
    RefusedError,
    UnreadableError,
    extract,
    object_at,
    read_leniently,
)
from mlagentbench.agents.protocols.protocol import (
    ActionRequest,
    ParsedReply,
    ReplyFormat,
    bad_input,
    unknown_action,
)
from mlagentbench.core.text import MAX_CHARACTERS, clean_text
from mlagentbench.environment.action import Action


def as_move(
    name: str, given: object, said: dict[str, str], form: ReplyFormat
) -> ParsedReply:
    """Return the move, if the action is known and its input is right.

    An error in place of the input says why there is none.
    """
    action = find_action(name, form)
    if action is None:
        return unknown_action(name, form)
    if isinstance(given, ReadingError):
        return bad_input(action, given, said)
    try:
        return ActionRequest(action=action.name, given=fitted(action, given), said=said)
    except ReadingError as reason:
        return bad_input(action, reason, said)


_LONGEST = 200


def bare(name: str) -> str:
    """Return a name's letters and digits, in one case."""
    return "".join(filter(str.isalnum, name[:_LONGEST].casefold()))


def find_action(name: str, form: ReplyFormat) -> Action | None:
    """Return the action of that name, if there is one."""
    if len(name) > _LONGEST:
        return None
    by_bare_name = {bare(action.name): action for action in form.known.values()}
    return by_bare_name.get(bare(name))


def read_input(text: str, action: Action) -> dict[str, str]:
    """Read an action's input as well as it can be, or say why it cannot."""
    if not action.parameters and not text.strip():
        return {}
    return fitted(action, _read(text, action))


def fitted(action: Action, given: object) -> dict[str, str]:
    """Return an action's input as texts, if it has the right keys and no others."""
    if isinstance(given, str):
        return read_input(given, action)
    if not isinstance(given, Mapping):
        raise RefusedError("it is not a JSON object")
    if set(given) != set(action.parameters):
        raise RefusedError("its keys are not the expected ones")
    texts = {name: as_text(given[name]) for name in action.parameters}
    if sum(len(text) for text in texts.values()) > MAX_CHARACTERS:
        raise RefusedError(f"it is longer than {MAX_CHARACTERS} characters")
    return texts


def as_text(value: object) -> str:
    """Return a value as the text an action takes: JSON where it is no text."""
    if value is None:
        raise RefusedError("a value in it is missing")
    if isinstance(value, str):
        return clean_text(value)
    try:
        return clean_text(
            json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
        )
    except (RecursionError, TypeError, ValueError) as error:
        raise RefusedError("a value in it is no text") from error


def _read(text: str, action: Action) -> Mapping[str, object]:
    start = text.find("{")
    if start < 0:
        raise UnreadableError("it is not a JSON object")
    attempts = (
        lambda: object_at(text, start).value,
        # The last brace is forgotten often, and nothing can be lost with it.
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


def listed(actions: tuple[Action, ...]) -> str:
    """Return the actions as a markdown list, each with the input it takes."""
    return "\n".join(
        f"- {action.name}: {action.summary} Input: {_sample(action)}"
        for action in actions
    )


def _sample(action: Action) -> str:
    return json.dumps(
        {name: f"<{text}>" for name, text in action.parameters.items()},
        ensure_ascii=False,
    )


def exactly(properties: dict[str, JSONSchema]) -> JSONSchema:
    """Return an object that has these properties and no others."""
    return JSONSchema(
        type="object",
        properties=properties,
        required=list(properties),
        additionalProperties=False,
    )


def inputs_of(actions: tuple[Action, ...]) -> JSONSchema:
    """Return what any of these actions may be given: texts by their keys."""
    # Many actions take the same keys; the same shape twice would only slow a grammar.
    shapes = dict.fromkeys(tuple(action.parameters) for action in actions)
    inputs = [
        exactly({key: JSONSchema(type="string") for key in shape}) for shape in shapes
    ]
    return inputs[0] if len(inputs) == 1 else JSONSchema(anyOf=inputs)
