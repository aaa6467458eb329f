"""Inspect Script Lines: a few lines of a file, and how many it has."""

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.files import read_text
from mlagentbench.environment.room import Room
from mlagentbench.environment.script_lines import lines_of, parse_range

MOST_LINES = 100


async def _inspect_script_lines(
    room: Room, script_name: str, start_line_number: str, end_line_number: str
) -> str:
    wanted = parse_range(start_line_number, end_line_number, INSPECT_SCRIPT_LINES.usage)
    if len(wanted) > MOST_LINES:
        raise ActionError(
            f"these are {len(wanted)} lines; at most {MOST_LINES} are shown at once"
        )
    lines = lines_of(await read_text(room, script_name))
    if wanted.first > len(lines):
        raise ActionError(f"{script_name} has only {len(lines)} lines")
    last = min(wanted.last, len(lines))
    lead = f"Lines {wanted.first} to {last} of the {len(lines)} lines of {script_name}:"
    return f"{lead}\n{''.join(lines[wanted.first - 1 : last])}"


INSPECT_SCRIPT_LINES = Action(
    name="Inspect Script Lines",
    summary=f"See up to {MOST_LINES} lines of a file, and how many lines it has.",
    parameters={
        "script_name": "a file, relative to the workspace",
        "start_line_number": "the first line to see, counted from 1",
        "end_line_number": "the last line to see",
    },
    do=_inspect_script_lines,
)
