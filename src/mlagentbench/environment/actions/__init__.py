"""The actions an agent may take, in the order in which prompts list them."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.actions.control import (
    CHECK_SUBMISSION,
    FINAL_ANSWER,
    RESTORE_WORKSPACE,
)
from mlagentbench.environment.actions.execution import (
    EXECUTE_SCRIPT,
    PYTHON_REPL,
    RUN_COMMAND,
)
from mlagentbench.environment.actions.files import (
    APPEND_FILE,
    COPY_FILE,
    INSPECT_SCRIPT_LINES,
    LIST_FILES,
    READ_FILE,
    UNDO_EDIT_SCRIPT,
    WRITE_FILE,
)
from mlagentbench.environment.actions.model_edits import (
    EDIT_SCRIPT,
    EDIT_SCRIPT_SEGMENT,
    UNDERSTAND_FILE,
)
from mlagentbench.environment.actions.research_log import (
    APPEND_SUMMARY,
    REFLECTION,
    RETRIEVAL,
)

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
