"""The records of a sandbox: its contents, its limits, the result of a command."""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt, field_validator

from mlagentbench.core import Record

WORKSPACE = "/workspace"
TMP = "/tmp"
AGENT_ENV = "/opt/agent-env"
USER = "agent"
CANNOT_RUN = 126
"""The exit code of a program that could not be started, as in a shell."""

FIXED_ENVIRONMENT = {
    "HOME": TMP,
    "LANG": "C.UTF-8",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": f"{AGENT_ENV}/bin:/usr/local/bin:/usr/bin:/bin",
    # Snapshots of the workspace would otherwise fill with caches.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "TZ": "UTC",
}

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


HostPath = Annotated[Path, AfterValidator(Path.absolute)]


class Mount(Record):
    """A file or folder of the host, bound read-only."""

    source: HostPath
    target: str
    """Where it is seen: `/workspace/NAME`, or a path outside workspace and /tmp."""

    @field_validator("target")
    @classmethod
    def _is_not_replaceable(cls, target: str) -> str:
        path = PurePosixPath(target)
        if not path.is_absolute() or ".." in path.parts or str(path) != target:
            raise ValueError(f"{target} is not a plain absolute path")
        inside = path.is_relative_to(WORKSPACE) or path.is_relative_to(TMP)
        # A parent folder the agent owns could be renamed from under the mount.
        if inside and str(path.parent) != WORKSPACE:
            raise ValueError(f"{target} is not directly in {WORKSPACE}")
        return target


class SandboxSpec(Record):
    """Contents and variables of a sandbox before anything runs in it."""

    agent_env: HostPath
    """A virtual environment; seen at /opt/agent-env, first on the PATH."""
    starter: HostPath | None = None
    """A folder whose files are copied into the workspace, where they may be changed."""
    mounts: tuple[Mount, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables beside the fixed ones; no variable of the host is passed on."""

    @field_validator("environment")
    @classmethod
    def _has_plain_names(cls, environment: dict[str, str]) -> dict[str, str]:
        return checked_variables(environment)

    @property
    def variables(self) -> dict[str, str]:
        return FIXED_ENVIRONMENT | self.environment


def checked_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` if every name in it is an ordinary variable name."""
    for name in environment:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not a variable name")
    return dict(environment)


class Limits(Record):
    """Ceilings for everything that runs in one sandbox together."""

    cpus: PositiveInt = 1
    urgent: bool = False
    """Whether it has priority on its cores, as a timed process needs."""
    memory_mb: PositiveInt = 4096
    processes: PositiveInt = 256
    """Processes and threads alive at once."""
    open_files: PositiveInt = 512
    """Per process. It also limits files in flight, of which a host user has 1,024."""
    file_mb: PositiveInt = 2048
    """The largest single file."""
    pipes: PositiveInt = 256
    """A host user has pages for 1,024 pipes. Beyond that, new pipes are smaller."""
    workspace_mb: PositiveInt = 8192
    """Workspace and /tmp together."""
    output_kb: PositiveInt = 1024
    """Kept of each output stream, head and tail; the rest is drained and dropped."""


Killed = Literal["timeout", "memory", "disk", "pipes"]


class Execution(Record):
    """The result of a command; everything it started has ended too."""

    returncode: int
    """128 + n if signal n ended it, as in a shell."""
    stdout: bytes
    stderr: bytes
    truncated: bool = False
    """Whether the middle of an output stream was dropped."""
    seconds: float
    killed: Killed | None = None
    """Which limit ended it, if one did."""
