"""Facts about this machine that runs depend on."""

import os
import platform
import shutil
from pathlib import Path
from typing import Literal, get_args

from pydantic import computed_field

from mlagentbench.core import AgentEnvName, Record, memory_gb, usable_cores
from mlagentbench.environment import find_agent_env, probe
from mlagentbench.tasks import find_prepared, load_task, task_ids

MEMORY_GB = 4
DISK_GB = 5
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN")


class Fact(Record):
    """One thing about this machine."""

    name: str
    value: str
    status: Literal["ok", "warn", "fail"] = "ok"
    """`warn` if something optional is missing, `fail` if runs cannot work."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic documents this order
    @property
    def ok(self) -> bool | None:
        """The status as scripts know it; None is a warning."""
        return {"ok": True, "warn": None, "fail": False}[self.status]


def examine(cache: Path) -> list[Fact]:
    """Return everything about this machine that a run may need."""
    ids = task_ids()
    ready = [name for name in ids if find_prepared(load_task(name), cache)]
    docker, npm = shutil.which("docker"), shutil.which("npm")
    data = f"{len(ready)} of {len(ids)} tasks prepared"
    if len(ready) < len(ids):
        data += "; `mlab run` prepares the others when they are needed"
    return [
        Fact(name="python", value=platform.python_version()),
        *_isolation(),
        *_resources(cache),
        *(_agent_env(cache, name) for name in get_args(AgentEnvName)),
        Fact(name="data", value=data),
        Fact(name="docker", value="found" if docker else "not found; not needed"),
        Fact(
            name="npm",
            value="found" if npm else "not found; the data of some tasks needs it",
            status="ok" if npm else "warn",
        ),
        _api_keys(),
    ]


def _api_keys() -> Fact:
    found = [key for key in KEYS if os.environ.get(key)]
    others = ", ".join(key for key in KEYS if key not in found)
    if found:
        return Fact(name="API keys", value=f"set: {', '.join(found)}")
    return Fact(
        name="API keys",
        value=f"none of {others} is set; set one to use a provider's models",
        status="warn",
    )


def _isolation() -> list[Fact]:
    found = probe()
    if not found.ok:
        why = f"{found.reason}; {found.fix}"
        return [Fact(name="sandbox", value=why, status="fail")]
    limits = found.limits.described() if found.limits is not None else "none"
    return [
        Fact(name="sandbox", value=f"bubblewrap works, as {found.mode}"),
        Fact(
            name="limits",
            value=limits,
            status="ok" if "memory: cgroup" in limits else "warn",
        ),
    ]


def _resources(cache: Path) -> list[Fact]:
    cores = usable_cores()
    free = shutil.disk_usage(_existing(cache)).free / 2**30
    return [
        Fact(name="cores", value=f"{cores} cores: up to {cores} parallel runs"),
        _memory(),
        Fact(
            name="disk",
            value=f"{free:.0f} GB free for {cache}; {DISK_GB} GB are needed",
            status="ok" if free >= DISK_GB else "fail",
        ),
    ]


def _memory() -> Fact:
    enough = f"a run may need {MEMORY_GB} GB"
    size = memory_gb()
    if size is None:
        return Fact(name="memory", value=f"unknown; {enough}")
    return Fact(
        name="memory",
        value=f"{size:.1f} GB; {enough}",
        status="ok" if size >= MEMORY_GB else "fail",
    )


def _agent_env(cache: Path, name: AgentEnvName) -> Fact:
    value = "built"
    if find_agent_env(cache, name) is None:
        tasks = map(load_task, task_ids())
        needing = ", ".join(task.id for task in tasks if name in task.agent_envs)
        value = f"not built; `mlab run` builds it for {needing or 'no task'}"
    return Fact(name=f"agent-env {name}", value=value)


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)
