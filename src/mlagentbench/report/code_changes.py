"""Edits of a run: the files its steps wrote, and the difference each made."""

from collections.abc import Iterable
from dataclasses import dataclass

from mlagentbench.core import WRITE_FILE, WRITING, Step, Trace, first_lines, given
from mlagentbench.report.data import FileChange, code_changes

_LONGEST = 200_000
_LINES_SHOWN = 4


@dataclass(frozen=True)
class Edit:
    """One step that wrote a file; the difference is computed on demand."""

    step: Step
    name: str
    before: str | None
    """The earlier content, if it is known."""
    after: str | None
    """The new content, if the step wrote all of it."""

    def change(self) -> FileChange | None:
        """Compare the new content with the earlier one; None if either is unknown."""
        if self.before is None or self.after is None:
            return None
        if max(len(self.before), len(self.after)) > _LONGEST:
            return None
        changes = code_changes({self.name: self.before}, {self.name: self.after})
        same = FileChange(name=self.name, kind="changed", added=0, removed=0, lines=())
        return changes[0] if changes else same

    def summary(self) -> str:
        """Describe the difference in a few words."""
        shown = first_lines(self.name, lines=1, characters=60)
        change = self.change()
        if change is not None:
            return _counts(shown, change.lines, change.removed)
        if self.after is not None:
            lines = self.after.count("\n") + 1
            counted = "1 line" if lines == 1 else f"{lines:,} lines"
            return f"{shown} written, {counted}"
        found = _from_diff(self.step.observation, shown)
        return found or f"{shown}: {_brief(self.step.action)}"


def edits(trace: Trace) -> dict[int, Edit]:
    """Return the edits of a run by their index in the trace."""
    texts: dict[str, str] = {}
    found: dict[int, Edit] = {}
    for place, step in enumerate(trace.steps):
        name = given(step, WRITING.get(step.action, ""))
        if not name or not step.ok:
            continue
        after = given(step, "content") if step.action == WRITE_FILE.name else None
        found[place] = Edit(step, name, texts.pop(name, None), after)
        if after is not None:
            texts[name] = after
    return found


def _from_diff(observation: str, shown: str) -> str:
    """Read the difference from the observation of an edit by a model."""
    _, found, diff = observation[:_LONGEST].partition("\n@@ ")
    if not found:
        return ""
    lines = diff.split("\n")[1:]
    return _counts(shown, lines, sum(line.startswith("-") for line in lines))


def _counts(shown: str, lines: Iterable[str], removed: int) -> str:
    added = [line[1:].strip() for line in lines if line.startswith("+")]
    text = "; ".join(_brief(line) for line in added[:_LINES_SHOWN] if line)
    if not added and not removed:
        return f"{shown} as before"
    counts = f"{shown} +{len(added)} -{removed}"
    return f"{counts}: {text}" if text else counts


def _brief(text: str) -> str:
    return first_lines(text, lines=1, characters=120)
