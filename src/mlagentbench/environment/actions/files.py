"""The actions on files: list, read, write, append, copy, undo, inspect lines."""

from mlagentbench.core import ActionError, actions, lines_of, parse_range
from mlagentbench.environment.action import ActionContext
from mlagentbench.environment.paths import WORKSPACE, workspace_path, writable_path
from mlagentbench.environment.workspace import (
    append_text,
    copy_bytes,
    file_errors,
    read_text,
    undo,
    write_text,
)


async def list_files(context: ActionContext, dir_path: str) -> str:
    folder = WORKSPACE / workspace_path(dir_path)
    # -b shows control bytes in hostile file names as escapes.
    result = await context.sandbox.exec(
        ["ls", "-Fb", "--", str(folder)], timeout=30, timeout_retry=False
    )
    if not result.success:
        raise ActionError(f"cannot list {dir_path}: {result.stderr.strip()}")
    # Format characters could reorder the text for a reader.
    visible = (
        char if char == "\n" or char.isprintable() else ascii(char)[1:-1]
        for char in result.stdout
    )
    return "".join(visible) or "(empty)"


async def read_file(context: ActionContext, file_name: str) -> str:
    return await read_text(context, file_name)


async def write_file(context: ActionContext, file_name: str, content: str) -> str:
    await write_text(context, file_name, content)
    return f"{file_name} was written ({len(content)} characters)."


async def append_file(context: ActionContext, file_name: str, content: str) -> str:
    await append_text(context, file_name, content)
    return f"{len(content)} characters were appended to {file_name}."


async def copy_file(context: ActionContext, source: str, destination: str) -> str:
    await copy_bytes(context, source, destination)
    return f"{source} was copied to {destination}."


async def undo_edit_script(context: ActionContext, script_name: str) -> str:
    path = writable_path(script_name)
    with file_errors(script_name):
        contents = await undo(context, path)
    text = contents.decode("utf-8", errors="replace")
    return f"The last edit of {script_name} was undone. It now holds:\n{text}"


async def inspect_script_lines(
    context: ActionContext,
    script_name: str,
    start_line_number: str,
    end_line_number: str,
) -> str:
    wanted = parse_range(
        start_line_number, end_line_number, actions.INSPECT_SCRIPT_LINES.usage
    )
    if len(wanted) > actions.INSPECTED_LINES:
        raise ActionError(
            f"these are {len(wanted)} lines;"
            f" at most {actions.INSPECTED_LINES} are shown at once"
        )
    lines = lines_of(await read_text(context, script_name))
    if wanted.first > len(lines):
        raise ActionError(f"{script_name} has only {len(lines)} lines")
    last = min(wanted.last, len(lines))
    lead = f"Lines {wanted.first} to {last} of the {len(lines)} lines of {script_name}:"
    return f"{lead}\n{''.join(lines[wanted.first - 1 : last])}"
