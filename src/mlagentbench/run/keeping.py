"""A run's workspace as it was after each step, kept in the experiment's folder."""

from pathlib import Path

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import ReplayError
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Measurement, Trace
from mlagentbench.environment.sandbox.provider import BwrapSandbox
from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache


class WorkspaceKeeper:
    """Takes a snapshot after each step and thins out the old ones."""

    def __init__(
        self,
        task: Task,
        folder: Path,
        sandbox: SandboxEnvironment,
        past: Trace,
    ) -> None:
        self._task = task
        self._store = SnapshotStore(folder, run=past.run)
        self._workspace = sandbox.as_type(BwrapSandbox).box.workspace
        self._seen = StatCache()
        self._taken: list[str] = []
        self._best: tuple[float, str] | None = None
        for step in past.steps:
            if step.snapshot is not None:
                self._note(step.snapshot, step.validation)

    async def take(self, validation: Measurement | None) -> str | None:
        """Keep the workspace as it is now and return the snapshot's name."""
        taken = self._store.take(self._workspace, previous=self._seen)
        self._note(taken.id, validation)
        return taken.id

    async def thin_out(self) -> None:
        """Drop what the last snapshot, now that it is recorded, makes superfluous."""
        best = self._best[1] if self._best else None
        self._store.retain(self._taken, best, self._task.submission)

    async def restore(self, snapshot: str) -> tuple[str, ...]:
        """Make the workspace what it was; return files that are no longer kept."""
        return tuple(self._store.restore(snapshot, self._workspace).missing)

    async def bring_back(self, snapshot: str) -> None:
        """Make the workspace exactly what it was, or say what is missing."""
        if missing := await self.restore(snapshot):
            names = ", ".join(missing[:5])
            raise ReplayError(f"the workspace cannot be restored without {names}")

    def _note(self, snapshot: str, validation: Measurement | None) -> None:
        self._taken.append(snapshot)
        if validation is None:
            return
        merit = self._task.direction.sign * validation.value
        if self._best is None or merit > self._best[0]:
            self._best = (merit, snapshot)
