"""The actions an agent may take, one file each, in the order agents are told them."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.actions.append_file import APPEND_FILE
from mlagentbench.environment.actions.append_summary import APPEND_SUMMARY
from mlagentbench.environment.actions.check_submission import CHECK_SUBMISSION
from mlagentbench.environment.actions.copy_file import COPY_FILE
from mlagentbench.environment.actions.edit_script import EDIT_SCRIPT
from mlagentbench.environment.actions.edit_script_segment import EDIT_SCRIPT_SEGMENT
from mlagentbench.environment.actions.execute_script import EXECUTE_SCRIPT
from mlagentbench.environment.actions.final_answer import FINAL_ANSWER
from mlagentbench.environment.actions.inspect_script_lines import INSPECT_SCRIPT_LINES
from mlagentbench.environment.actions.list_files import LIST_FILES
from mlagentbench.environment.actions.python_repl import PYTHON_REPL
from mlagentbench.environment.actions.read_file import READ_FILE
from mlagentbench.environment.actions.reflection import REFLECTION
from mlagentbench.environment.actions.restore_workspace import RESTORE_WORKSPACE
from mlagentbench.environment.actions.retrieval import RETRIEVAL
from mlagentbench.environment.actions.run_command import RUN_COMMAND
from mlagentbench.environment.actions.understand_file import UNDERSTAND_FILE
from mlagentbench.environment.actions.undo_edit_script import UNDO_EDIT_SCRIPT
from mlagentbench.environment.actions.write_file import WRITE_FILE

ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        LIST_FILES,
        READ_FILE,
        WRITE_FILE,
        APPEND_FILE,
        COPY_FILE,
        UNDO_EDIT_SCRIPT,
        EXECUTE_SCRIPT,
        PYTHON_REPL,
        RUN_COMMAND,
        RESTORE_WORKSPACE,
        CHECK_SUBMISSION,
        FINAL_ANSWER,
        INSPECT_SCRIPT_LINES,
        UNDERSTAND_FILE,
        EDIT_SCRIPT,
        EDIT_SCRIPT_SEGMENT,
        APPEND_SUMMARY,
        RETRIEVAL,
        REFLECTION,
    )
}
