"""The environment that agents' code runs in, built once from a committed lock.

It is a virtual environment in the cache, never the harness's own, and read-only in
every sandbox. It appears under its name only when it is complete, so that a build that
was killed leaves nothing that could be taken for one.
"""

import hashlib
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
    build_folder,
    exclusive_lock,
)
from mlagentbench.environment.sandbox.sandbox_spec import AGENT_ENV

_PYTHON = "bin/python"
_UMASK = 0o022


class AgentEnv(Record):
    """An environment that is built and ready."""

    path: Path
    digest: str
    """Of the lock and the interpreter it was built for."""


def find_agent_env(cache: Path, variant: AgentEnvName) -> AgentEnv | None:
    """Return the environment if it is there; build nothing."""
    digest = _digest(variant)
    path = cache.absolute() / "agent-env" / f"{variant}-{digest[:12]}"
    if not (path / _PYTHON).is_file():
        return None
    return AgentEnv(path=path, digest=digest)


def ensure_agent_env(
    cache: Path, variant: AgentEnvName, progress: Progress | None = None
) -> AgentEnv:
    """Return the environment, built first if need be."""
    if found := find_agent_env(cache, variant):
        return found
    home = cache.absolute() / "agent-env"
    with exclusive_lock(home / f".{variant}.lock"):
        if found := find_agent_env(cache, variant):
            return found
        target = home / f"{variant}-{_digest(variant)[:12]}"
        # A folder that exists already is one whose interpreter is gone.
        with build_folder(target, variant) as new:
            _fill(new, variant, progress or Silent())
    if found := find_agent_env(cache, variant):
        return found
    raise MachineError(f"the agents' environment in {home} is not usable")


def _fill(folder: Path, variant: AgentEnvName, progress: Progress) -> None:
    folder.chmod(0o755)
    _make_venv(folder)
    lock = _lock(variant)
    named = [line for line in lock.splitlines() if not line.startswith("#")]
    progress.start(f"fetching the agents' {variant} environment", len(named))
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
    listed = folder / "lock.txt"
    listed.write_text(lock)
    command = [
        *(sys.executable, "-m", "pip", "--python", str(folder / _PYTHON), "install"),
        *("--no-deps", "--no-compile", "--only-binary=:all:", "--no-input"),
        *("--progress-bar=off", "--disable-pip-version-check", "-r", str(listed)),
    ]
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


def _digest(variant: AgentEnvName) -> str:
    interpreter = f"{sys.implementation.cache_tag} {platform.python_version()}"
    described = f"{_lock(variant)}\n{interpreter} {platform.machine()}\n"
    return hashlib.sha256(described.encode()).hexdigest()
