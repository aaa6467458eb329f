"""The environment that agents' code runs in, built once from a committed lock.

A task that declares packages has an environment of its own: the packages are resolved
once, together with those of the variant that it names, into a lock in its folder.

It is a virtual environment in the cache, never the harness's own, and read-only in
every sandbox. It appears under its name only when it is complete, so that a build that
was killed leaves nothing that could be taken for one.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from mlagentbench.core import (
    AgentEnvName,
    MachineError,
    Progress,
    Record,
    Silent,
    Task,
    UsageError,
    build_folder,
    exclusive_lock,
    scratch_folder,
    write_atomically,
    writing_to,
)
from mlagentbench.environment.sandbox.sandbox_spec import AGENT_ENV

_PYTHON = "bin/python"
_INSTALLED = "lock.txt"
_CUDA = ("nvidia-", "cuda-", "triton")
_UMASK = 0o022


class AgentEnv(Record):
    """An environment that is built and ready."""

    name: str
    """The variant, or the variant and the task that adds packages to it."""
    path: Path
    digest: str
    """Of the lock and the interpreter it was built for."""


def find_agent_env(cache: Path, variant: AgentEnvName) -> AgentEnv | None:
    """Return the environment if it is there; build nothing."""
    return _find(cache, variant, _lock(variant))


def ensure_agent_env(
    cache: Path, variant: AgentEnvName, progress: Progress | None = None
) -> AgentEnv:
    """Return the environment, built first if need be."""
    return _ensure(cache, variant, _lock(variant), progress or Silent())


def ensure_task_env(
    cache: Path, task: Task, variant: AgentEnvName, progress: Progress | None = None
) -> AgentEnv:
    """Return the environment of a task's code, with the packages that it declares."""
    if not task.agent_packages or variant != task.agent_env:
        return ensure_agent_env(cache, variant, progress)
    progress = progress or Silent()
    lock = _task_lock(cache, task, progress)
    return _ensure(cache, f"{variant}+{task.id}", lock, progress)


def task_env_digests(task: Task) -> dict[str, str]:
    """Return the digest of each environment of a task's code; build nothing.

    Packages that a task declares must be resolved already: their lock is part of the
    task's own digest, too.
    """
    digests: dict[str, str] = {}
    for variant in task.agent_envs:
        if not task.agent_packages or variant != task.agent_env:
            digests[variant] = _digest(_lock(variant))
            continue
        lock = _resolved_lock(task)
        if lock is None:
            raise UsageError(
                f"the packages of task {task.id} are not resolved yet; run"
                f" `mlab prepare {task.folder}` first"
            )
        digests[f"{variant}+{task.id}"] = _digest(lock)
    return digests


def _find(cache: Path, name: str, lock: str) -> AgentEnv | None:
    digest = _digest(lock)
    path = cache.absolute() / "agent-env" / f"{name}-{digest[:12]}"
    if not (path / _PYTHON).is_file():
        return None
    return AgentEnv(name=name, path=path, digest=digest)


def _ensure(cache: Path, name: str, lock: str, progress: Progress) -> AgentEnv:
    if found := _find(cache, name, lock):
        return found
    home = cache.absolute() / "agent-env"
    with exclusive_lock(home / f".{name}.lock"):
        if found := _find(cache, name, lock):
            return found
        target = home / f"{name}-{_digest(lock)[:12]}"
        # A folder that exists already is one whose interpreter is gone.
        with build_folder(target, name) as new:
            _fill(new, name, lock, progress)
    if found := _find(cache, name, lock):
        return found
    raise MachineError(f"the agents' environment in {home} is not usable")


TASK_LOCK = "packages.lock"
"""The file of a task folder with all packages of its own environment."""


def _task_lock(cache: Path, task: Task, progress: Progress) -> str:
    """Return the lock of a task's packages; resolve them if it is missing or stale."""
    with exclusive_lock(cache.absolute() / "agent-env" / f".{task.id}.packages"):
        if (found := _resolved_lock(task)) is not None:
            return found
        base = ensure_agent_env(cache, task.agent_env, progress)
        progress.start(f"resolving the packages of {task.id}", None)
        pins = {line for line in _lock(task.agent_env).splitlines() if "==" in line}
        pins |= _resolve(task.agent_packages, base)
        lock = _lock_header(task) + "".join(f"{pin}\n" for pin in sorted(pins))
        with writing_to(task.edition_folder):
            write_atomically(task.edition_folder / TASK_LOCK, lock)
    return lock


def _resolved_lock(task: Task) -> str | None:
    """Return the lock of a task's packages; None if it is missing or stale."""
    path = task.part(TASK_LOCK)
    if not path.is_file():
        return None
    lock = path.read_text(encoding="utf-8")
    return lock if lock.startswith(_lock_header(task)) else None


def _lock_header(task: Task) -> str:
    return (
        f"# Resolved from {task.agent_env} and {', '.join(task.agent_packages)};"
        " delete this file to resolve again.\n"
    )


def _resolve(requirements: tuple[str, ...], base: AgentEnv) -> set[str]:
    """Return pins of the packages to add to an environment, dependencies included."""
    with scratch_folder() as scratch:
        report = scratch / "report.json"
        # The packages of the base stay at their versions.
        pip = _pip(base.path, "--dry-run", "--report", str(report))
        command = [*pip, "-c", str(base.path / _INSTALLED), *requirements]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise MachineError(_explain_pip_failure(done.stderr.splitlines()))
        listed = json.loads(report.read_bytes())["install"]
    found = [one["metadata"] for one in listed]
    # The torch environment leaves out the CUDA packages that torch asks for.
    return {
        f"{one['name'].lower()}=={one['version']}"
        for one in found
        if not one["name"].startswith(_CUDA)
    }


def _fill(folder: Path, name: str, lock: str, progress: Progress) -> None:
    folder.chmod(0o755)
    _make_venv(folder)
    named = [line for line in lock.splitlines() if not line.startswith("#")]
    progress.start(f"fetching the agents' {name} environment", len(named))
    _install(folder, lock, progress)
    progress.start("compiling the installed packages", None)
    # Some packages ship files that do not compile; nothing imports those.
    subprocess.run(
        [folder / _PYTHON, "-m", "compileall", "-q", "-j", "0", folder / "lib"],
        check=False,
        capture_output=True,
        umask=_UMASK,
    )
    # Scripts name the folder's path inside the sandbox.
    for script in (*(folder / "bin").iterdir(), folder / "pyvenv.cfg"):
        if script.is_file() and not script.is_symlink():
            text = script.read_bytes()
            script.write_bytes(text.replace(os.fsencode(folder), AGENT_ENV.encode()))


def _make_venv(folder: Path) -> None:
    # By its real path: that is the one the sandbox shows.
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    command = [str(base), "-m", "venv", "--without-pip", str(folder)]
    made = subprocess.run(
        command, check=False, capture_output=True, text=True, umask=_UMASK
    )
    if made.returncode != 0:
        raise MachineError(
            f"{base} cannot make a virtual environment; install its venv module "
            f"(on Debian and Ubuntu: apt install python3-venv)"
        )


def _install(folder: Path, lock: str, progress: Progress) -> None:
    listed = folder / _INSTALLED
    listed.write_text(lock)
    command = _pip(folder, "--no-deps", "--no-compile", "-r", str(listed))
    output: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        umask=_UMASK,
    ) as pip:
        for line in pip.stdout or ():
            output.append(line)
            if line.startswith(("Collecting ", "Processing ")):
                progress.advance(1)
            elif line.startswith("Installing "):
                progress.start("installing the fetched packages", None)
    if pip.returncode != 0:
        raise MachineError(_explain_pip_failure(output))


def _pip(folder: Path, *words: str) -> list[str]:
    """Return the command that installs into the environment in `folder`."""
    return [
        *(sys.executable, "-m", "pip", "--python", str(folder / _PYTHON), "install"),
        *("--only-binary=:all:", "--no-input", "--progress-bar=off"),
        *("--disable-pip-version-check", *words),
    ]


def _explain_pip_failure(output: list[str]) -> str:
    missing = re.compile(
        r"No matching distribution found for (\S+)|No module named pip"
    )
    found = next(filter(None, map(missing.search, output)), None)
    if found is None:
        errors = [line.strip() for line in output if line.startswith("ERROR")]
        return f"pip could not build the agents' environment: {' '.join(errors)[:500]}"
    if found[1] is None:
        return f"{sys.executable} has no pip; run `{sys.executable} -m ensurepip`"
    return (
        f"pip could not fetch {found[1]} for the agents' environment; check the "
        "network and pip's index settings (`pip config list`), then run this again"
    )


def _lock(variant: AgentEnvName) -> str:
    return (files("mlagentbench.environment") / "locks" / f"{variant}.txt").read_text()


def _digest(lock: str) -> str:
    interpreter = f"{sys.implementation.cache_tag} {platform.python_version()}"
    described = f"{lock}\n{interpreter} {platform.machine()}\n"
    return hashlib.sha256(described.encode()).hexdigest()
