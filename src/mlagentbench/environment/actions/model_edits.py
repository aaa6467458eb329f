"""The actions that ask a model: edit a script, edit a segment, understand a file."""

from inspect_ai.model import GenerateConfig

from mlagentbench.core import (
    BLOCK_CHARACTERS,
    ActionError,
    LineRange,
    actions,
    difference,
    lines_of,
    parse_range,
    sendable,
    split,
)
from mlagentbench.environment.action import ActionContext
from mlagentbench.environment.paths import writable_path
from mlagentbench.environment.prompts import (
    NoCodeError,
    fenced,
    prompt,
    python_block,
)
from mlagentbench.environment.workspace import AbsentError, read_text, write_text


async def edit_script(
    context: ActionContext, script_name: str, edit_instruction: str, save_name: str
) -> str:
    writable_path(save_name)
    try:
        old = await read_text(context, script_name)
    except AbsentError:
        old = ""
    refuse_too_long(old, script_name, "Use Edit Script Segment (AI) on a part of it.")
    request = prompt(
        "edit_script",
        name=fenced(script_name),
        script=fenced(old),
        instruction=fenced(edit_instruction),
        tokens=str(EDITOR_TOKENS),
    )
    new = await new_code(context, request)
    return await save(context, script_name, old, save_name, new)


EDITOR = "editor"
EDITOR_TOKENS = 4_000
LONGEST_CODE = 50_000
"""Characters; far more than the editor can write back."""

_TRIES = 2


def refuse_too_long(code: str, what: str, way_out: str) -> None:
    """Refuse code that is too long for the editor to return completely."""
    if len(code) > LONGEST_CODE:
        raise ActionError(
            f"{what} has {len(code)} characters; at most {LONGEST_CODE} can be edited"
            f" at once. {way_out}"
        )


async def new_code(context: ActionContext, request: str) -> str:
    """Return the code the editor writes; refuse an incomplete reply."""
    question, why = request, ""
    for _ in range(_TRIES):
        reply = await context.services.ask(
            question, role=EDITOR, config=GenerateConfig(max_tokens=EDITOR_TOKENS)
        )
        if reply.cut_off:
            raise ActionError(
                "The editor's answer was cut off by the length limit; nothing was"
                " written. Ask for a smaller change, or edit a segment."
            )
        try:
            code = python_block(sendable(reply.text))
            return code if not code or code.endswith("\n") else f"{code}\n"
        except NoCodeError as unusable:
            why = str(unusable)
            # A model copies a bad reply that it is shown, so it is told only the fault.
            question = prompt("edit_again", request=request, why=why)
    raise ActionError(
        f"The editor's answer could not be used, in {_TRIES} tries: {why}. Nothing was"
        " written. Say more plainly what to change, or write the file yourself."
    )


async def save(
    context: ActionContext, script_name: str, old: str, save_name: str, new: str
) -> str:
    """Write an edited script; the replaced one is backed up."""
    await write_text(context, save_name, new)
    changed = difference(old, new, script_name, save_name)
    if not changed:
        return f"{save_name} was written; no line differs from {script_name}."
    return f"{save_name} was written. The difference to {script_name}:\n{changed}"


_NO_TEXT = "\ufffd"


async def edit_script_segment(  # one per parameter, by keyword
    context: ActionContext,
    *,
    script_name: str,
    start_line_number: str,
    end_line_number: str,
    edit_instruction: str,
    save_name: str,
) -> str:
    writable_path(save_name)
    segment = parse_range(
        start_line_number, end_line_number, actions.EDIT_SCRIPT_SEGMENT.usage
    )
    old = await read_text(context, script_name)
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
    new = before + await new_code(context, request) + after
    return await save(context, script_name, old, save_name, new)


def _parts(text: str, segment: LineRange, name: str) -> tuple[str, str, str]:
    """Return the text before, in and after a segment."""
    lines = lines_of(text)
    if segment.last > len(lines):
        raise ActionError(f"{name} has only {len(lines)} lines")
    if _NO_TEXT in text:
        # Text that the editor is not shown must be written back unchanged.
        raise ActionError(f"{name} has bytes that are no UTF-8 text; edit it whole")
    start, end = segment.first - 1, segment.last
    return "".join(lines[:start]), "".join(lines[start:end]), "".join(lines[end:])


MOST_BLOCKS = 20


async def understand_file(
    context: ActionContext, file_name: str, things_to_look_for: str
) -> str:
    text = await read_text(context, file_name)
    blocks = split(text)
    if not blocks:
        return f"{file_name} is empty."
    if len(blocks) > MOST_BLOCKS:
        raise ActionError(
            f"{file_name} has {len(text)} characters, {len(blocks)} blocks of less than"
            f" {BLOCK_CHARACTERS}; at most {MOST_BLOCKS} blocks are read. Look at a"
            " part of it, or run a script that prints what you need."
        )
    sought = fenced(things_to_look_for)
    name = fenced(file_name)
    answer, notes = "", []
    for number, block in enumerate(blocks, start=1):
        place = (
            f"Block {number} of {len(blocks)}: lines {block.first_line} to"
            f" {block.last_line}, characters {block.first_character} to"
            f" {block.last_character}"
        )
        code = fenced(block.text)
        about = prompt(
            "understand_block", name=name, place=place, block=code, sought=sought
        )
        answer = await consult(context, about)
        notes.append(f"{place}\n{fenced(answer)}")
    if len(notes) == 1:
        return answer
    merging = prompt(
        "understand_merge", name=name, notes="\n\n".join(notes), sought=sought
    )
    return await consult(context, merging)


HELPER = "helper"
HELPER_TOKENS = 2_000


async def consult(context: ActionContext, question: str) -> str:
    """Return the helper's reply, marked if the length limit truncated it."""
    config = GenerateConfig(temperature=0.01, max_tokens=HELPER_TOKENS)
    reply = await context.services.ask(question, role=HELPER, config=config)
    text = sendable(reply.text).strip() or "(The helper model said nothing.)"
    return f"{text}\n[cut off by the length limit]" if reply.cut_off else text
