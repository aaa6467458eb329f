"""A reply as it is remembered: its fields in order, without the marks of updates."""

import json

from inspect_ai.model import ModelOutput

from mlagentbench.agents.fields import PLAN
from mlagentbench.agents.languages.replies import tool_calls
from mlagentbench.agents.moves import Move

_UPDATE = "**"


def without_marks(move: Move, fields: tuple[str, ...]) -> Move:
    """Return a move with its fields in order and no mark of what is new in the plan."""
    order = [name for name in fields if name in move.said]
    said = {name: move.said[name] for name in [*order, *move.said]}
    if PLAN in said:
        said[PLAN] = said[PLAN].replace(_UPDATE, "")
    return move.model_copy(update={"said": said})


def written(move: Move) -> str:
    """Write a move as fields of text."""
    action = [f"Action: {move.action}", f"Action Input: {_json(move.given)}"]
    return "\n".join([*_fields(move), *action])


def retold(output: ModelOutput, move: Move, protocol: str) -> ModelOutput:
    """Return the reply as if the model had said just the move, in its own language."""
    again = output.model_copy(deep=True)
    if text := _said(output, move, protocol):
        again.message.text = text
    return again


def _said(output: ModelOutput, move: Move, protocol: str) -> str:
    if protocol == "text":
        return written(move)
    if protocol == "schema":
        fields = {name.lower().replace(" ", "_"): t for name, t in move.said.items()}
        return _json({**fields, "action": move.action, "input": move.given})
    if tool_calls(output):
        return "\n".join(_fields(move))
    call = {"name": move.action, "arguments": move.given}
    return "\n".join([*_fields(move), _json(call)])


def _fields(move: Move) -> list[str]:
    return [f"{name}: {text}" for name, text in move.said.items()]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
