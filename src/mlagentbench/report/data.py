"""Data of a report page: scorecards, tasks, traces and code changes."""

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Literal

from pydantic import Field

from mlagentbench.core import (
    Budget,
    DataKind,
    Direction,
    Record,
    RunId,
    Scorecard,
    Starter,
    Task,
    Trace,
    difference,
    success_threshold,
)
from mlagentbench.experiment import last_attempt_of

TUNED = "tuning baseline"


class TaskFacts(Record):
    """The facts of a task that explain its scores."""

    name: str
    """`task@version/edition`: scores of different names are never compared."""
    title: str
    metric: str
    direction: Direction
    unit: str = ""
    data: DataKind | None = None
    summary: str = ""
    """The data, in one line."""
    starter: Starter | None = None
    """None if the starter was never measured, or if its measurement is stale."""
    stale: bool = False
    tuned: float | None = None
    """The mean of the tuning baseline."""
    reference: float | None = None
    """The mean of a known good solution."""
    validation: dict[str, float] = Field(default_factory=dict)
    """By baseline: the mean of its measured validation scores."""

    @property
    def success_threshold(self) -> float | None:
        """The score a run must beat to succeed."""
        if self.starter is None:
            return None
        return success_threshold(self.starter.mean, self.direction)

    @property
    def baselines(self) -> dict[str, float]:
        """The test scores that a run is read against, as far as they are known."""
        known = {
            "starter": self.starter.mean if self.starter else None,
            TUNED: self.tuned,
            "success threshold": self.success_threshold,
            "reference": self.reference,
        }
        return {
            name: value
            for name, value in known.items()
            if value is not None and math.isfinite(value)
        }


class LeftOut(Record):
    """A run that is not shown, because another experiment holds a copy of it."""

    run: str
    why: str


class MissingRun(Record):
    """A run that a study plans and that has no result yet."""

    run: RunId
    agent_digest: str = ""
    experiment: str
    """Where its result will be."""
    why: str
    """How far it is, or why it failed."""


class FileChange(Record):
    """One file that differs from the starter."""

    name: str
    kind: Literal["changed", "new", "removed"]
    added: int
    removed: int
    lines: tuple[str, ...]
    """A unified diff without its first two lines, each line with its own sign."""


class CodeChanges(Record):
    """A run's last workspace beside the starter's files."""

    files: tuple[FileChange, ...] = ()
    others: tuple[str, ...] = ()
    """Files that are not compared, with the reason: data, outputs, too long."""
    note: str = ""
    """Where the code was read, or why there is none."""


class ExperimentView(Record):
    """Everything one page shows.

    Runs of different experiments have different names here, also if their ids are
    the same.
    """

    title: str
    created: str
    cards: tuple[Scorecard, ...]
    tasks: tuple[TaskFacts, ...] = ()
    traces: tuple[Trace, ...] = ()
    step_scores: dict[str, tuple[tuple[int, float], ...]] = Field(default_factory=dict)
    """By run: held-out scores after steps, if steps were graded."""
    packages: dict[str, str] = Field(default_factory=dict)
    """Versions of the packages that ran and graded."""
    notes: tuple[str, ...] = ()
    """Warnings, shown before any number."""
    asked: dict[str, RunId] = Field(default_factory=dict)
    """By run: every planned run, as far as the plan can be read."""
    experiments: dict[str, str] = Field(default_factory=dict)
    """By run: the name of its experiment, if there are several."""
    left_out: tuple[LeftOut, ...] = ()
    missing: dict[str, str] = Field(default_factory=dict)
    """By run: why a planned run of a study has no result."""
    code: dict[str, CodeChanges] = Field(default_factory=dict)
    """By run: its changes to the starter's files."""
    budgets: dict[str, tuple[Budget, ...]] = Field(default_factory=dict)
    """By `task@version/edition`: every budget that its runs had."""

    def facts(self, card: Scorecard) -> TaskFacts:
        """Find a card's task; if it is gone, use what the card holds.

        The task may have been measured again, so the card's own starter holds.
        """
        graded_by = {"tuned": card.tuned, "reference": card.reference}
        own = {name: found.mean for name, found in graded_by.items() if found}
        named = {facts.name: facts for facts in self.tasks}
        found = named.get(card.score_name) or TaskFacts(
            name=card.score_name,
            title=card.task,
            metric=card.metric,
            direction=card.direction,
            starter=card.starter,
        )
        if card.baseline_error is not None:
            unknown = {"starter": None, "tuned": None, "reference": None}
            return found.model_copy(update=unknown | {"validation": {}, "stale": True})
        if card.starter not in (None, found.starter):
            measured = {"starter": card.starter, "validation": {}}
            gone = {"tuned": None, "reference": None}
            return found.model_copy(update=gone | measured | own)
        return found.model_copy(update=own)

    def traces_by_attempt(self) -> dict[tuple[str, int], Trace]:
        """Return the steps of each run by name and number of its last attempt."""
        last = last_attempt_of(self.cards)
        return {(one.run, last[one.run]): one for one in self.traces if one.run in last}

    @property
    def ungraded(self) -> tuple[Trace, ...]:
        """Runs that left steps but no scorecard."""
        graded = {card.run for card in self.cards}
        return tuple(trace for trace in self.traces if trace.run not in graded)


def task_facts(task: Task) -> TaskFacts:
    """Return the facts of a task."""
    measured = task.measured
    starter = measured.starter if measured else None
    tuned = measured.tuned if measured else None
    reference = measured.reference if measured else None
    named = {"starter": starter, TUNED: tuned, "reference": reference}
    return TaskFacts(
        name=task.name,
        title=task.title,
        metric=task.metric,
        direction=task.direction,
        unit=task.unit,
        data=task.data.data,
        summary=task.data.summary,
        starter=starter and Starter(mean=starter.mean, sd=starter.sd, n=starter.n),
        tuned=tuned.mean if tuned else None,
        reference=reference.mean if reference else None,
        validation={
            name: fmean(baseline.validation)
            for name, baseline in named.items()
            if baseline and baseline.validation
        },
    )


_LONGEST_DIFF = 60_000
_LONGEST_LINE = 500
"""An endless line would hide the next one."""


def code_changes(
    starter: Mapping[str, str], final: Mapping[str, str], *, whole: bool = True
) -> tuple[FileChange, ...]:
    """Compare texts by name; without `whole`, a missing file is not a removed one."""
    names = [*starter, *(name for name in final if name not in starter)]
    changes = (
        _change(name, starter.get(name), final.get(name))
        for name in names
        if starter.get(name) != final.get(name) and (whole or name in final)
    )
    return tuple(one for one in changes if one.lines or one.kind != "changed")


def _change(name: str, before: str | None, after: str | None) -> FileChange:
    lines = _diff_lines(before or "", after or "")
    return FileChange(
        name=name,
        kind="new" if before is None else "removed" if after is None else "changed",
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        lines=_kept(lines),
    )


def _diff_lines(before: str, after: str) -> list[str]:
    found = difference(before, after, "", "")
    if found and not found.startswith("--- "):
        return [f"  {len(before.split(chr(10)))} lines changed, too many to show"]
    return found.split("\n")[2:]


def _kept(lines: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    left = _LONGEST_DIFF
    for line in lines:
        left -= min(len(line), _LONGEST_LINE) + 1
        if left < 0:
            break
        hidden = len(line) - _LONGEST_LINE
        more = f" ... ({hidden:,} more characters)" if hidden > 0 else ""
        kept.append(line[:_LONGEST_LINE] + more)
    rest = len(lines) - len(kept)
    return (*kept, f"  ... {rest:,} more lines") if rest else tuple(kept)
