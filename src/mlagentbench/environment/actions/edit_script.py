"""Edit Script (AI): have a model rewrite a script as told."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.editing import (
    EDITOR_TOKENS,
    new_code,
    refuse_too_long,
    save,
)
from mlagentbench.environment.files import AbsentError, read_text
from mlagentbench.environment.paths import writable_path
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.room import Room


async def _edit_script(
    room: Room, script_name: str, edit_instruction: str, save_name: str
) -> str:
    writable_path(save_name)
    old = await _text_or_nothing(room, script_name)
    refuse_too_long(old, script_name, "Use Edit Script Segment (AI) on a part of it.")
    request = prompt(
        "edit_script",
        name=fenced(script_name),
        script=fenced(old),
        instruction=fenced(edit_instruction),
        tokens=str(EDITOR_TOKENS),
    )
    return await save(room, script_name, old, save_name, await new_code(room, request))


async def _text_or_nothing(room: Room, name: str) -> str:
    try:
        return await read_text(room, name)
    except AbsentError:
        return ""


EDIT_SCRIPT = Action(
    name="Edit Script (AI)",
    summary="Have an editor change a Python script as you instruct it, and see what"
    " changed; a script that is not there is written anew.",
    parameters={
        "script_name": "the script to start from, relative to the workspace",
        "edit_instruction": "what to change, step by step and in detail",
        "save_name": "where to save the result, relative to the workspace",
    },
    do=_edit_script,
)
