"""Facts about this machine that runs depend on."""

import os
import platform
import shutil
from pathlib import Path
from typing import get_args

from mlagentbench.core import AgentEnvName, Record, usable_cores
from mlagentbench.environment import find_agent_env, probe
from mlagentbench.tasks import find_prepared, load_task, task_ids

MEMORY_GB = 4
DISK_GB = 5
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")


class Fact(Record):
    """One thing about this machine."""

    name: str
    value: str
    ok: bool | None = None
    """None for information only; False if something cannot work without it."""


def examine(cache: Path) -> list[Fact]:
    """Return everything about this machine that a run may need."""
    ids = task_ids()
    ready = [name for name in ids if find_prepared(load_task(name), cache)]
    docker, npm = shutil.which("docker"), shutil.which("npm")
    return [
        Fact(name="python", value=platform.python_version(), ok=True),
        *_isolation(),
        *_resources(cache),
        *(
            Fact(name=f"agent-env {name}", value=_agent_env_state(cache, name))
            for name in get_args(AgentEnvName)
        ),
        Fact(name="data", value=f"{len(ready)} of {len(ids)} tasks prepared"),
        Fact(
            name="docker", value="client found" if docker else "not found, not needed"
        ),
        Fact(name="npm", value="found" if npm else "not found; some data needs it"),
        *(
            Fact(name=key, value="set" if os.environ.get(key) else "not set")
            for key in KEYS
        ),
    ]


def _isolation() -> list[Fact]:
    found = probe()
    if not found.ok:
        return [Fact(name="sandbox", value=f"{found.reason} {found.fix}", ok=False)]
    return [
        Fact(name="sandbox", value=f"bubblewrap works, as {found.mode}", ok=True),
        Fact(name="limits", value=str(found.limits)),
    ]


def _resources(cache: Path) -> list[Fact]:
    cores = usable_cores()
    free = shutil.disk_usage(_existing(cache)).free / 2**30
    return [
        Fact(
            name="cores", value=f"{cores} cores: up to {cores} parallel runs", ok=True
        ),
        _memory(),
        Fact(name="disk", value=f"{free:.0f} GB free for {cache}", ok=free >= DISK_GB),
    ]


def _memory() -> Fact:
    enough = f"a run may need {MEMORY_GB} GB"
    if not hasattr(os, "sysconf"):
        return Fact(name="memory", value=f"unknown; {enough}")
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Fact(name="memory", value=f"{size:.1f} GB; {enough}", ok=size >= MEMORY_GB)


def _agent_env_state(cache: Path, name: AgentEnvName) -> str:
    if find_agent_env(cache, name) is not None:
        return "built"
    tasks = map(load_task, task_ids())
    needing = [task.id for task in tasks if name in task.agent_envs]
    return f"not built yet; `mlab prepare` builds it for {', '.join(needing) or '-'}"


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)
