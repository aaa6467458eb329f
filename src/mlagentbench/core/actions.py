"""What the actions of a trace do, by the names they have there."""

import posixpath

from mlagentbench.core.trace import Step

EXECUTING = frozenset({"Execute Script", "Run Command", "Python REPL"})
READING = frozenset(
    {"Read File", "Inspect Script Lines", "Understand File", "List Files"}
)
FINAL = "Final Answer"
LOG = "Append Summary to Research Log"
"""What is noted there is read again by some actions, and never executed."""
RESTORE = "Restore Workspace"
UNDO = "Undo Edit Script"

TARGET = {
    "Write File": "file_name",
    "Append File": "file_name",
    "Edit Script (AI)": "save_name",
    "Edit Script Segment (AI)": "save_name",
    "Copy File": "destination",
    UNDO: "script_name",
}
"""The input that names the file an action changes."""

NAMES = (*TARGET, *EXECUTING, *READING, FINAL, RESTORE, "Check Submission")

PATHS = (
    "file_name",
    "script_name",
    "save_name",
    "source",
    "destination",
    "dir_path",
)
"""The inputs that are paths."""

CODE = ("content", "command", "edit_instruction")
"""The inputs that hold code, or say what code to write."""

CODE_SUFFIXES = (".py", ".sh")
NOTE_SUFFIXES = (".md", ".txt", ".log")
_WORKSPACE = "/workspace/"
_LONGEST_NAME = 300


def given(step: Step, key: str) -> str:
    """Return an input as text; empty where there is none, or something else."""
    value = step.input.get(key)
    return value if isinstance(value, str) else ""


def executes(step: Step) -> bool:
    """Tell whether the agent's code ran."""
    return step.action in EXECUTING


def plain(name: str) -> str:
    """Return a path as it is seen from the workspace."""
    short = name.strip()[:_LONGEST_NAME]
    return posixpath.normpath(short.removeprefix(_WORKSPACE)) if short else ""


def is_code(name: str) -> bool:
    """Tell whether a file of this name is meant to be run."""
    return name.endswith(CODE_SUFFIXES)


def is_note(step: Step) -> bool:
    """Tell whether what a step writes down is meant to be read, not run."""
    name = plain(given(step, "file_name"))
    return step.action == LOG or name.endswith(NOTE_SUFFIXES)
