"""Editing with a model: ask it for code, save that, and show what became different."""

from inspect_ai.model import GenerateConfig

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.code_blocks import NoCodeError, python_block
from mlagentbench.environment.differences import difference
from mlagentbench.environment.files import write_text
from mlagentbench.environment.prompts import prompt, sendable
from mlagentbench.environment.room import Room

EDITOR = "editor"
EDITOR_TOKENS = 4_000
LONGEST_CODE = 50_000
"""Characters; far more than the editor could ever write back."""

_TRIES = 2


def refuse_too_long(code: str, what: str, way_out: str) -> None:
    """Refuse code that the editor could not return whole, before it is asked."""
    if len(code) > LONGEST_CODE:
        raise ActionError(
            f"{what} has {len(code)} characters; at most {LONGEST_CODE} can be edited"
            f" at once. {way_out}"
        )


async def new_code(room: Room, request: str) -> str:
    """Return the code the editor writes; whatever is not whole is refused."""
    question, why = request, ""
    for _ in range(_TRIES):
        told = await room.ask(
            question, role=EDITOR, config=GenerateConfig(max_tokens=EDITOR_TOKENS)
        )
        if told.cut_off:
            raise ActionError(
                "The editor's answer was cut off by the length limit; nothing was"
                " written. Ask for a smaller change, or edit a segment."
            )
        try:
            return _ending_its_last_line(python_block(sendable(told.text)))
        except NoCodeError as unusable:
            why = str(unusable)
            # A bad answer that is shown again is copied; only its fault is told.
            question = prompt("edit_again", request=request, why=why)
    raise ActionError(
        f"The editor's answer could not be used, in {_TRIES} tries: {why}. Nothing was"
        " written. Say more plainly what to change, or write the file yourself."
    )


async def save(room: Room, script_name: str, old: str, save_name: str, new: str) -> str:
    """Write an edited script; what it replaces can be had back by undoing."""
    await write_text(room, save_name, new)
    changed = difference(old, new, script_name, save_name)
    if not changed:
        return f"{save_name} was written; no line differs from {script_name}."
    return f"{save_name} was written. The difference to {script_name}:\n{changed}"


def _ending_its_last_line(code: str) -> str:
    return code if not code or code.endswith("\n") else f"{code}\n"
