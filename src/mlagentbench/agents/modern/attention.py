"""What the modern research agent minds between two moves."""

from dataclasses import dataclass, field

from mlagentbench.agents.moves import Move
from mlagentbench.core.trace import Step

_CHANGES = {
    *("Write File", "Append File", "Copy File", "Undo Edit Script"),
    *("Edit Script (AI)", "Edit Script Segment (AI)", "Restore Workspace"),
}
_LONGEST_CHANGE = 120


@dataclass
class Attention:
    """The state of the workspace, and of the model."""

    change: str = "the starter as it is"
    """What the next execution will try."""
    changed: bool = False
    """Whether anything was written since the last execution."""
    at_best: bool = True
    """Whether the workspace is as it was after the best trial."""
    works: bool = False
    """Whether what lies in the workspace could be measured; else it is to be mended."""
    ideas_used: int = 0
    bad_replies: int = 0
    remark: str = ""
    """What the model is told once, before its next move."""
    edits: list[dict[str, str]] = field(default_factory=list)
    """What a guided model has asked for so far."""

    def note(self, move: Move, step: Step) -> None:
        """Mind what a move that executes nothing has changed."""
        if step.ok and move.action in _CHANGES:
            self.changed, self.at_best = True, False
            self.change = _in_a_few_words(move)


def _in_a_few_words(move: Move) -> str:
    if move.action == "Restore Workspace":
        return f"as after step {move.given['step_number']}"
    told = move.given.get("edit_instruction") or move.said.get("Thought") or move.action
    line = " ".join(told.split())
    too_long = len(line) > _LONGEST_CHANGE
    return f"{line[: _LONGEST_CHANGE - 3]}..." if too_long else line
