"""The setup of all attacks: one job of house-price, a second sandbox, and secrets.

The secrets are laid out on the host to be stolen; hints tell an attack where they are.
"""

import asyncio
import base64
import ctypes
import hashlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

from tests.redteam.leftovers import Leftovers, leftovers, tidy

import mlagentbench
from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.environment.sandbox.sandbox import Sandbox, open_sandbox
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.job import Job
from mlagentbench.run.make_jobs import Services, make_jobs
from mlagentbench.tasks.load import CANARY

_KEY_NAME = "ANTHROPIC_API_KEY"
_ORDINARY_SECONDS = 0.5
"""For starting Python in a sandbox, on a machine of ordinary speed that is busy."""
_REMOVE_SEGMENT = 0
_libc = ctypes.CDLL(None, use_errno=True)


PACE: dict[str, object] = {"hold": 0, "pause": 0, "limit_mb": None}
"""Of an attack that nobody is expected to stop: it holds nothing for long."""


@contextmanager
def baits(job: Job, scratch: Path) -> Iterator[dict[str, object]]:
    """Lay out everything worth stealing; yield an insider's hints."""
    key = secrets.token_hex(16)
    name = f"mlab-redteam-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        victim = stack.enter_context(
            subprocess.Popen(["sleep", f"3600.{secrets.randbelow(10**9)}"])
        )
        stack.callback(victim.kill)
        tcp = stack.enter_context(socket.create_server(("", 0)))
        stack.enter_context(patch.dict(os.environ, {_KEY_NAME: key}))
        shared = Path("/dev/shm") / name
        shared.write_text(key)
        stack.callback(shared.unlink)
        # Careless code leaves files open: every child inherits the descriptor.
        labels = os.open(job.prepared.private / job.task.truth, os.O_RDONLY)
        os.set_inheritable(labels, True)
        stack.callback(os.close, labels)
        yield {
            **_places(job),
            **_needles(job, key),
            "key_name": _KEY_NAME,
            "sandboxes": str(job.sandboxes),
            "victim": victim.pid,
            "victim_words": "\0".join(map(str, victim.args)),
            "port": tcp.getsockname()[1],
            "abstract": _listen(stack, f"\0{name}")[1:],
            "socket_file": _listen(stack, str(scratch / "service.sock")),
            "shm_key": _segment(stack, key),
            "shm_file": str(shared),
            "descriptor": labels,
            "bare": False,
            **PACE,
        }


def hints_text(hints: dict[str, object], **changed: object) -> str:
    """Return the hints as the file that lies beside an attack."""
    return json.dumps(hints | changed)


def label_rows(job: Job, name: str = "") -> bytes:
    """Return some rows of the held-out labels, or of those in another private file."""
    truth = (job.prepared.private / (name or job.task.truth)).read_bytes()
    return b"\n".join(truth.splitlines()[1:4])


def _places(job: Job) -> dict[str, object]:
    package = Path(mlagentbench.__file__).parent
    projects = [top for top in package.parents if (top / "pyproject.toml").exists()]
    beside = [projects[0] / name for name in (".git", "tests")] if projects else []
    own = [Path(sys.prefix)] if sys.prefix != sys.base_prefix else []
    return {
        "labels": str(job.prepared.private / job.task.truth),
        "private": str(job.prepared.private),
        "cache": str(job.prepared.cache),
        "home": str(Path.home()),
        "package": str(package),
        "harness": [str(path) for path in (*projects[:1], *beside, *own)],
    }


def _needles(job: Job, key: str) -> dict[str, object]:
    own = {name: job.task.folder / f"{name}.py" for name in ("grade", "prepare")}
    own["reference"] = job.task.folder / "reference" / job.task.script
    texts = {name: path.read_bytes()[-200:] for name, path in own.items()}
    texts |= {"canary": CANARY.encode(), "key": key.encode()}
    texts["label_rows"] = label_rows(job)
    texts["validation_rows"] = label_rows(job, job.task.validation.truth)
    return {name: base64.b64encode(text).decode() for name, text in texts.items()}


def _listen(stack: ExitStack, address: str) -> str:
    listener = stack.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(address)
    listener.listen()
    return address


def _segment(stack: ExitStack, key: str) -> int:
    number = secrets.randbelow(2**30) + 1
    segment = _libc.shmget(number, 4096, 0o1600)
    stack.callback(_libc.shmctl, segment, _REMOVE_SEGMENT, None)
    _libc.shmat.restype = ctypes.c_void_p
    ctypes.memmove(_libc.shmat(segment, None, 0), key.encode(), len(key))
    return number


@dataclass(frozen=True)
class AttackSetup:
    """Everything the attacks share."""

    job: Job
    scratch: Path
    hints: dict[str, object]
    neighbour: Sandbox
    """Another run's sandbox, open at the same time."""
    slowness: float = 1.0
    """How many times slower the machine is than an ordinary one; at least 1."""
    sandboxes_seen: set[str] = field(default_factory=set)

    def measured_slowness(self) -> float:
        """Measure how slow the machine is just now."""
        return _slowness(self.neighbour)

    def digest(self) -> str:
        """Return a digest of everything that must never change."""
        digest = hashlib.sha256()
        folders = (self.job.prepared.folder, self.job.task.folder)
        for path in sorted(path for folder in folders for path in folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path} {path.stat().st_mode}\n".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def leftovers(self) -> Leftovers:
        """Return what the attacks have left on this machine."""
        self.neighbour.close()
        return leftovers(self.scratch, self.job.sandboxes, self.sandboxes_seen)


@contextmanager
def open_setup(cache: Path, agent_env: Path | None = None) -> Iterator[AttackSetup]:
    """Make a setup from the prepared data in `cache`; remove it at the end."""
    scratch = Path(tempfile.mkdtemp(prefix="mlab-redteam-"))
    before = tempfile.tempdir
    (scratch / "tmp").mkdir()
    # Whatever the harness itself leaves in the temporary folder is then seen.
    tempfile.tempdir = str(scratch / "tmp")
    try:
        job = _make_job(cache, scratch, agent_env)
        neighbour = _open_neighbour(job)
        with closing(neighbour), baits(job, scratch) as hints:
            hints["other_sandbox"] = str(neighbour.workspace / "secret.txt")
            yield AttackSetup(job, scratch, hints, neighbour, _slowness(neighbour))
    finally:
        tempfile.tempdir = before
        tidy(scratch)
        subprocess.run(["/bin/rm", "-rf", "--", str(scratch)], check=True)


def bare_workspace(setup: AttackSetup, name: str) -> Path:
    """Lay out the same workspace as plain files, without any protection."""
    folder = setup.scratch / "bare" / name
    if folder.exists():
        subprocess.run(["/bin/rm", "-rf", "--", str(folder)], check=True)
    job = setup.job
    shutil.copytree(job.task.folder / "starter", folder)
    shutil.copytree(job.prepared.public / "data", folder / "data")
    shutil.copy(job.task.folder / "metric.py", folder / "evaluate.py")
    for path in (folder / "evaluate.py", *(folder / "data").rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    return folder


def _open_neighbour(job: Job) -> Sandbox:
    config = job.sandbox_config(seed=2)
    box = open_sandbox(config.sandboxes, config.spec, config.limits)
    box.write("secret.txt", b"another run's idea")
    return box


def _slowness(sandbox: Sandbox) -> float:
    began = time.monotonic()
    # The caller's event loop may be running, so this one has a thread of its own.
    with ThreadPoolExecutor(1) as thread:
        command = ["python", "-c", "pass"]
        thread.submit(lambda: asyncio.run(sandbox.execute(command))).result()
    return max(1.0, (time.monotonic() - began) / _ORDINARY_SECONDS)


def _make_job(cache: Path, scratch: Path, agent_env: Path | None) -> Job:
    plan = Plan(tasks=("house-price",), agent="starter", out=scratch)
    experiment = Experiment(scratch / "experiment")
    services = Services(cache, Silent(), NullObserver())
    (job,) = make_jobs(plan, experiment, services)
    experiment.create(job.spec)
    return replace(
        job, sandboxes=scratch / "sandboxes", agent_env=agent_env or job.agent_env
    )
