"""Measuring progress where the submission is code: it is run on the visible inputs."""

from pathlib import Path

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.task import Task
from mlagentbench.core.trace import Trace
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.run.meter import Measured, measured
from mlagentbench.run.scratch import scratch_folder
from mlagentbench.run.submission import judge_saved, save_submission
from mlagentbench.tasks.digest import sha256_of
from mlagentbench.tasks.prepare import Prepared


class CodeMeter:
    """Judges one run's code as it changes."""

    def __init__(
        self,
        task: Task,
        prepared: Prepared,
        sandbox: SandboxEnvironment,
        known: list[str],
    ) -> None:
        self._task = task
        self._prepared = prepared
        self._sandbox = sandbox
        self._known = known

    async def before_execution(self) -> None:
        """Do nothing: what counts is whether the code changed since it was judged."""

    async def after_execution(self) -> Measured:
        """Judge the code on visible inputs, if it is not the code judged last."""
        with scratch_folder() as scratch:
            saved = scratch / "submission"
            await save_submission(self._task, self._sandbox, saved)
            digests = self._digests(saved)
            if digests == self._known:
                return Measured()
            self._known = digests
            verdict = await judge_saved(
                self._task, self._prepared, saved, split="visible"
            )
        return measured(self._task, verdict)

    def _digests(self, saved: Path) -> list[str]:
        files = [saved / name for name in self._task.submission]
        return [sha256_of(path) if path.is_file() else "" for path in files]


def judged_before(task: Task, snapshots: Path, past: Trace) -> list[str]:
    """Return the digests of the code that a resumed run has judged last."""
    taken = [
        step.snapshot
        for step in past.steps
        if step.action in ACTIONS and ACTIONS[step.action].executes
    ]
    if not taken or taken[-1] is None:
        return []
    entries = SnapshotStore(snapshots).manifest(taken[-1]).entries
    digests = {entry.name: entry.sha256 or "" for entry in entries}
    return [digests.get(name, "") for name in task.submission]
