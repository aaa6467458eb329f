"""Where a turn is taken: a fresh sandbox that holds one solution and our driver."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core.limits import Limits
from mlagentbench.core.task import Grading, Task
from mlagentbench.environment.sandbox.box import Furnishing, Mount, open_box
from mlagentbench.environment.sandbox.dialogue import (
    Answer,
    NoAnswer,
    Patience,
    converse,
)
from mlagentbench.environment.sandbox.furnishing import WORKSPACE
from mlagentbench.run.grading import inside

LOADING_SECONDS = 60.0
"""The longest a submission may take to be imported."""

_INSIDE = str(inside.MOUNTED / "inside.py")
# No file of the workspace steers the interpreter. Variables may: they are all ours, and
# one of them fixes the order of sets, so that grading twice gives the same.
_COMMAND = ("python", "-s", "-P", "-B", _INSIDE)
_DISK_MB = 512


@dataclass(frozen=True)
class Seat:
    """What every turn of one grading has in common."""

    task: Task
    grading: Grading
    rooms: Path
    agent_env: Path
    cores: tuple[int, ...]
    """The cores every turn runs on; empty where that does not matter."""
    data: Path | None = None
    """What the workspace shows as `data/`, where a submission may read it."""

    async def take_turn(
        self, solution: Path, question: bytes, seconds: float
    ) -> Answer | NoAnswer:
        """Let the solution answer; its sandbox is gone before this returns."""
        box = open_box(
            self.rooms, self._furnishing(solution), self._limits, cores=self.cores
        )
        try:
            return await converse(box, _COMMAND, question, self._patience(seconds))
        finally:
            box.close()

    def _furnishing(self, solution: Path) -> Furnishing:
        return Furnishing(
            agent_env=self.agent_env, starter=solution, mounts=tuple(self._mounts())
        )

    def _mounts(self) -> Iterator[Mount]:
        folder = self.task.folder
        ours = {
            "inside.py": Path(inside.__file__),
            "driver.py": folder / self.grading.driver,
            "metric.py": folder / "metric.py",
            **{Path(name).name: folder / name for name in self.grading.files},
        }
        for name, source in ours.items():
            yield Mount(source=source, target=str(inside.MOUNTED / name))
        if self.data is not None:
            yield Mount(source=self.data, target=f"{WORKSPACE}/data")

    @property
    def _limits(self) -> Limits:
        memory_mb = int(self.task.data.memory_gb * 1024)
        disk = max(_DISK_MB, int(2 * self.task.budget.submission_mb))
        return Limits(
            memory_mb=memory_mb,
            workspace_mb=disk,
            file_mb=disk,
            urgent=self.grading.timed,
        )

    def _patience(self, seconds: float) -> Patience:
        return Patience(
            ready_seconds=min(LOADING_SECONDS, seconds),
            answer_seconds=min(self.grading.seconds, seconds),
            answer_bytes=int(self.grading.output_mb * 2**20),
        )
