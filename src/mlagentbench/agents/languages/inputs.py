"""What an action is given: read from text, checked against what it takes."""

import json
from collections.abc import Mapping

from mlagentbench.agents.languages.cleaning import MAX_CHARACTERS, clean_text
from mlagentbench.agents.languages.extraction import extract
from mlagentbench.agents.languages.lenient import read_leniently
from mlagentbench.agents.languages.objects import object_at
from mlagentbench.agents.languages.strict import RefusedError, UnreadableError
from mlagentbench.environment.action import Action


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
