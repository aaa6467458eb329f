"""Edit Script Segment (AI): have a model rewrite some lines of a script as told."""

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.editing import (
    EDITOR_TOKENS,
    new_code,
    refuse_too_long,
    save,
)
from mlagentbench.environment.files import read_text
from mlagentbench.environment.paths import writable_path
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.room import Room
from mlagentbench.environment.script_lines import LineRange, lines_of, parse_range

_NO_TEXT = "\ufffd"


async def _edit_script_segment(  # one per parameter, by keyword
    room: Room,
    *,
    script_name: str,
    start_line_number: str,
    end_line_number: str,
    edit_instruction: str,
    save_name: str,
) -> str:
    writable_path(save_name)
    segment = parse_range(start_line_number, end_line_number, EDIT_SCRIPT_SEGMENT.usage)
    old = await read_text(room, script_name)
    before, inside, after = _parts(old, segment, script_name)
    refuse_too_long(inside, "this segment", "Choose fewer lines.")
    request = prompt(
        "edit_segment",
        name=fenced(script_name),
        place=f"lines {segment.first} to {segment.last}",
        segment=fenced(inside),
        instruction=fenced(edit_instruction),
        tokens=str(EDITOR_TOKENS),
    )
    new = before + await new_code(room, request) + after
    return await save(room, script_name, old, save_name, new)


def _parts(text: str, segment: LineRange, name: str) -> tuple[str, str, str]:
    """Return what stands before, in and after a segment."""
    lines = lines_of(text)
    if segment.last > len(lines):
        raise ActionError(f"{name} has only {len(lines)} lines")
    if _NO_TEXT in text:
        # What is not shown to the editor must be written back as it was.
        raise ActionError(f"{name} has bytes that are no UTF-8 text; edit it whole")
    start, end = segment.first - 1, segment.last
    return "".join(lines[:start]), "".join(lines[start:end]), "".join(lines[end:])


EDIT_SCRIPT_SEGMENT = Action(
    name="Edit Script Segment (AI)",
    summary="Have an editor change some lines of a Python script as you instruct it,"
    " and see what changed.",
    parameters={
        "script_name": "the script to start from, relative to the workspace",
        "start_line_number": "the first line to change, counted from 1",
        "end_line_number": "the last line to change",
        "edit_instruction": "what to change, step by step and in detail",
        "save_name": "where to save the whole script, relative to the workspace",
    },
    do=_edit_script_segment,
)
