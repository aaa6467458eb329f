"""How a small model is guided: it has one script, edited in place and executed at once.

Left to itself it names files that are not there any more, goes on from what was worse,
and copies its own mistakes.
"""

from dataclasses import replace

from mlagentbench.agents.moves import Move
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS

_EDIT = "Edit Script (AI)"
_INSTRUCTION = "edit_instruction"


def guided_actions(script: str) -> tuple[Action, ...]:
    """Return what a guided model may do."""
    edit = replace(
        ACTIONS[_EDIT],
        summary=f"Have an editor change {script} as you instruct it; the new"
        f" {script} is executed at once.",
        parameters={_INSTRUCTION: ACTIONS[_EDIT].parameters[_INSTRUCTION]},
    )
    return (ACTIONS["Read File"], edit, ACTIONS["Final Answer"])


def in_full(move: Move, script: str) -> Move:
    """Return a guided model's move as the action takes it."""
    if move.action != _EDIT:
        return move
    names = {"script_name": script, "save_name": script}
    return move.model_copy(update={"given": move.given | names})
