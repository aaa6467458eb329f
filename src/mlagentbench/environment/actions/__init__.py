"""The actions an agent may take, in the order in which prompts list them."""

from mlagentbench.core import actions as specs
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import (
    control,
    execution,
    files,
    model_edits,
    research_log,
)

ACTIONS: dict[str, Action] = {
    spec.name: Action(**vars(spec), do=do)
    for spec, do in (
        (specs.LIST_FILES, files.list_files),
        (specs.READ_FILE, files.read_file),
        (specs.WRITE_FILE, files.write_file),
        (specs.APPEND_FILE, files.append_file),
        (specs.COPY_FILE, files.copy_file),
        (specs.UNDO_EDIT_SCRIPT, files.undo_edit_script),
        (specs.EXECUTE_SCRIPT, execution.execute_script),
        (specs.PYTHON_REPL, execution.python_repl),
        (specs.RUN_COMMAND, execution.run_command),
        (specs.RESTORE_WORKSPACE, control.restore_workspace),
        (specs.CHECK_SUBMISSION, control.check_submission),
        (specs.FINAL_ANSWER, control.final_answer),
        (specs.INSPECT_SCRIPT_LINES, files.inspect_script_lines),
        (specs.UNDERSTAND_FILE, model_edits.understand_file),
        (specs.EDIT_SCRIPT, model_edits.edit_script),
        (specs.EDIT_SCRIPT_SEGMENT, model_edits.edit_script_segment),
        (specs.APPEND_SUMMARY, research_log.append_summary),
        (specs.RETRIEVAL, research_log.retrieval),
        (specs.REFLECTION, research_log.reflection),
    )
}
