"""Where the attacks take place: one order of house-price, its baits and its rooms."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.redteam.baits import baits
from tests.redteam.leftovers import Leftovers, leftovers, tidy

from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.environment.sandbox.sandbox import Sandbox, open_sandbox
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.job import Job
from mlagentbench.run.make_jobs import Services, make_jobs


@dataclass(frozen=True)
class Stage:
    """Everything the attacks share."""

    order: Job
    scratch: Path
    hints: dict[str, object]
    neighbour: Sandbox
    """Another run's sandbox, open at the same time."""
    rooms_seen: set[str] = field(default_factory=set)

    def digest(self) -> str:
        """Return a digest of everything that must never change."""
        digest = hashlib.sha256()
        folders = (self.order.prepared.folder, self.order.task.folder)
        for path in sorted(path for folder in folders for path in folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path} {path.stat().st_mode}\n".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def leftovers(self) -> Leftovers:
        """Return what the attacks have left on this machine."""
        self.neighbour.close()
        return leftovers(self.scratch, self.order.rooms, self.rooms_seen)


@contextmanager
def open_stage(cache: Path, agent_env: Path | None = None) -> Iterator[Stage]:
    """Make a stage from the prepared data in `cache`; remove it at the end."""
    scratch = Path(tempfile.mkdtemp(prefix="mlab-redteam-"))
    before = tempfile.tempdir
    (scratch / "tmp").mkdir()
    # Whatever the harness itself leaves in the temporary folder is then seen.
    tempfile.tempdir = str(scratch / "tmp")
    try:
        order = _order(cache, scratch, agent_env)
        neighbour = _neighbour(order)
        with closing(neighbour), baits(order, scratch) as hints:
            hints["other_room"] = str(neighbour.workspace / "secret.txt")
            yield Stage(order, scratch, hints, neighbour)
    finally:
        tempfile.tempdir = before
        tidy(scratch)
        subprocess.run(["/bin/rm", "-rf", "--", str(scratch)], check=True)


def bare_workspace(stage: Stage, name: str) -> Path:
    """Lay out the same workspace as plain files, without any protection."""
    folder = stage.scratch / "bare" / name
    if folder.exists():
        subprocess.run(["/bin/rm", "-rf", "--", str(folder)], check=True)
    order = stage.order
    shutil.copytree(order.task.folder / "starter", folder)
    shutil.copytree(order.prepared.public / "data", folder / "data")
    shutil.copy(order.task.folder / "metric.py", folder / "evaluate.py")
    for path in (folder / "evaluate.py", *(folder / "data").rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return folder


def _neighbour(order: Job) -> Sandbox:
    config = order.sandbox_config(seed=2)
    box = open_sandbox(config.rooms, config.furnishing, config.limits)
    box.write("secret.txt", b"another run's idea")
    return box


def _order(cache: Path, scratch: Path, agent_env: Path | None) -> Job:
    plan = Plan(tasks=("house-price",), agent="starter", out=scratch)
    experiment = Experiment(scratch / "experiment")
    workshop = Services(cache, Silent(), NullObserver())
    (order,) = make_jobs(plan, experiment, workshop)
    experiment.create(order.spec)
    return replace(
        order, rooms=scratch / "rooms", agent_env=agent_env or order.agent_env
    )
