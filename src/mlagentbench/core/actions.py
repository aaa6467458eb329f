"""Specs of the actions an agent may take, as data.

Everything that must know what an action does reads it here: the environment, which
implements each spec, the agents, the process checks and the report.
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mlagentbench.core.trace import Step

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class ActionSpec:
    """An action: its name, its parameters and its effect on the workspace."""

    name: str
    """As the paper writes it: `Execute Script`."""
    summary: str
    """What it does, as models read it."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Each parameter's name and meaning, as models read them."""
    executes: bool = False
    """Whether it runs the agent's code, after which progress is measured."""
    writes: str | None = None
    """The parameter that names the file it changes."""
    reads: str | None = None
    """The parameter that names the file or folder it shows."""
    restores: bool = False
    """Whether it replaces the whole workspace by an earlier one."""
    ends_run: bool = False

    @property
    def tool_name(self) -> str:
        """The name under which models call it as a tool: `execute_script`."""
        return "_".join(_WORD.findall(self.name.lower()))

    @property
    def usage(self) -> str:
        """How to call it, shown when it was called wrongly."""
        named = self.parameters.items()
        inputs = ", ".join(f'"{name}": <{text}>' for name, text in named)
        return f"{self.name} takes {{{inputs}}}"

    @property
    def changes_workspace(self) -> bool:
        """Whether it changes files of the agent's choice without running code."""
        return self.restores or self.writes is not None


INSPECTED_LINES = 100
"""How many lines Inspect Script Lines shows at most."""

LIST_FILES = ActionSpec(
    name="List Files",
    summary="List the files in a folder of the workspace.",
    parameters={"dir_path": "a folder, relative to the workspace; . is the workspace"},
    reads="dir_path",
)
READ_FILE = ActionSpec(
    name="Read File",
    summary="Read a text file of the workspace.",
    parameters={"file_name": "a file, relative to the workspace"},
    reads="file_name",
)
WRITE_FILE = ActionSpec(
    name="Write File",
    summary="Write text into a file of the workspace, replacing what it held.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "content": "the whole new text of the file",
    },
    writes="file_name",
)
APPEND_FILE = ActionSpec(
    name="Append File",
    summary="Add text at the end of a file of the workspace; makes it where needed.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "content": "the text to add",
    },
    writes="file_name",
)
COPY_FILE = ActionSpec(
    name="Copy File",
    summary="Copy a file of the workspace to another name.",
    parameters={
        "source": "the file to copy, relative to the workspace",
        "destination": "where to, relative to the workspace",
    },
    writes="destination",
)
UNDO_EDIT_SCRIPT = ActionSpec(
    name="Undo Edit Script",
    summary="Undo the last edit of a file; may be repeated.",
    parameters={"script_name": "the edited file, relative to the workspace"},
    writes="script_name",
)
EXECUTE_SCRIPT = ActionSpec(
    name="Execute Script",
    summary="Run a Python script of the workspace and see what it prints.",
    parameters={"script_name": "a Python file, relative to the workspace"},
    executes=True,
)
PYTHON_REPL = ActionSpec(
    name="Python REPL",
    summary="Run Python code in the workspace and see what it prints; nothing is"
    " remembered from one call to the next.",
    parameters={"command": "the Python code to run"},
    executes=True,
)
RUN_COMMAND = ActionSpec(
    name="Run Command",
    summary="Run a bash command in the workspace and see what it prints; nothing but"
    " files is remembered from one call to the next.",
    parameters={"command": "the command to run"},
    executes=True,
)
RESTORE_WORKSPACE = ActionSpec(
    name="Restore Workspace",
    summary="Put every file of the workspace back to what it was after a step.",
    parameters={"step_number": "the number of an earlier step"},
    restores=True,
)
CHECK_SUBMISSION = ActionSpec(
    name="Check Submission",
    summary="See whether the submission would be accepted as it is; tells no score.",
)
FINAL_ANSWER = ActionSpec(
    name="Final Answer",
    summary="End the run: what lies in the workspace now is your submission.",
    parameters={"final_answer": "what you did and found, in a few sentences"},
    ends_run=True,
)
INSPECT_SCRIPT_LINES = ActionSpec(
    name="Inspect Script Lines",
    summary=f"See up to {INSPECTED_LINES} lines of a file, and how many lines it has.",
    parameters={
        "script_name": "a file, relative to the workspace",
        "start_line_number": "the first line to see, counted from 1",
        "end_line_number": "the last line to see",
    },
    reads="script_name",
)
UNDERSTAND_FILE = ActionSpec(
    name="Understand File",
    summary="Have a helper read a file and say what it holds about what you look for.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "things_to_look_for": "what to look for in it, in detail",
    },
    reads="file_name",
)
EDIT_SCRIPT = ActionSpec(
    name="Edit Script (AI)",
    summary="Have an editor change a Python script as you instruct it, and see what"
    " changed; a script that is not there is written anew.",
    parameters={
        "script_name": "the script to start from, relative to the workspace",
        "edit_instruction": "what to change, step by step and in detail",
        "save_name": "where to save the result, relative to the workspace",
    },
    writes="save_name",
)
EDIT_SCRIPT_SEGMENT = ActionSpec(
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
    writes="save_name",
)
APPEND_SUMMARY = ActionSpec(
    name="Append Summary to Research Log",
    summary="Note down in the research log what you did and found.",
    parameters={"content": "a summary of the last step, in at most 500 characters"},
)
RETRIEVAL = ActionSpec(
    name="Retrieval from Research Log",
    summary="Have a helper tell you what the research log says about your plan.",
    parameters={"current_plan": "your research plan and its status, in detail"},
)
REFLECTION = ActionSpec(
    name="Reflection",
    summary="Have a helper reflect on the problem and the research log with you.",
    parameters={"things_to_reflect_on": "what to reflect on, in detail"},
)

ACTION_SPECS: Mapping[str, ActionSpec] = {
    spec.name: spec for spec in tuple(globals().values()) if type(spec) is ActionSpec
}
"""All of the above, in the order in which agents are told them."""

EXECUTING = frozenset(spec.name for spec in ACTION_SPECS.values() if spec.executes)
READING = frozenset(spec.name for spec in ACTION_SPECS.values() if spec.reads)
WRITING = {
    spec.name: spec.writes for spec in ACTION_SPECS.values() if spec.writes is not None
}
"""The actions that change a file, each with the parameter that names it."""

PATHS = ("file_name", "script_name", "save_name", "source", "destination", "dir_path")
"""The parameters that are paths."""

CODE = ("content", "command", "edit_instruction")
"""The parameters that hold code, or say what code to write."""

CODE_SUFFIXES = (".py", ".sh")
NOTE_SUFFIXES = (".md", ".txt", ".log")
_WORKSPACE = "/workspace/"
_LONGEST_NAME = 300


def given(step: Step, parameter: str) -> str:
    """Return an input as text; empty if it is missing or not a text."""
    value = step.input.get(parameter)
    return value if isinstance(value, str) else ""


def executes(step: Step) -> bool:
    """Tell whether the agent's code ran."""
    return step.action in EXECUTING


def workspace_name(path: str) -> str:
    """Return a path as it is seen from the workspace."""
    short = path.strip()[:_LONGEST_NAME]
    return posixpath.normpath(short.removeprefix(_WORKSPACE)) if short else ""


def is_code(name: str) -> bool:
    """Tell whether a file of this name is meant to be run."""
    return name.endswith(CODE_SUFFIXES)


def is_note(step: Step) -> bool:
    """Tell whether a step writes something to be read, not run."""
    name = workspace_name(given(step, "file_name"))
    return step.action == APPEND_SUMMARY.name or name.endswith(NOTE_SUFFIXES)
