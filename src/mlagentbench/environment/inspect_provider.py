"""Inspect's sandbox provider `bwrap`, for this suite and for any other eval."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any, Literal, get_args, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import Field

from mlagentbench.core import (
    AgentEnvName,
    Record,
    SandboxError,
    default_cache,
    sandbox_root,
)
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.safe_files import os_error
from mlagentbench.environment.sandbox.sandbox import (
    Sandbox,
    SandboxSpec,
    open_sandbox,
    sweep,
)
from mlagentbench.environment.sandbox.sandbox_spec import (
    CANNOT_RUN,
    USER,
    WORKSPACE,
    Execution,
    Limits,
)

_READ_SECONDS = 30.0
# Names in logs that Inspect wrote before they were changed.
_OLD_FIELDS = {"rooms": "sandboxes", "furnishing": "spec"}
_WRAPPERS = (b"setpriv: ", b"mlab: ", b"env: ")


class BwrapConfig(Record):
    """The configuration for `SandboxEnvironmentSpec("bwrap", config)`."""

    sandboxes: Path = Field(default_factory=lambda: sandbox_root(default_cache()))
    """The folder that holds the folders of all sandboxes."""
    spec: SandboxSpec | str = "base"
    """The contents, or an environment: `base`, `numpy`, `torch` or a path to one."""
    limits: Limits = Limits()

    def __hash__(self) -> int:
        """Hash the JSON: Inspect puts configurations in a set, and one holds a dict."""
        return hash(self.model_dump_json())


class ExecutionTimedOut(TimeoutError):  # noqa: N818  # it is an outcome, not a fault
    """A command ran out of time; its output by then is kept."""

    def __init__(self, seconds: float, stdout: str, stderr: str) -> None:
        super().__init__(f"the command took longer than {seconds:g} seconds")
        self.truncated_output = "\n".join(part for part in (stdout, stderr) if part)
        """The attribute of Inspect's own timeout error."""


@sandboxenv(name="bwrap")
class BwrapSandbox(SandboxEnvironment):
    """One sample's sandbox."""

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        """Use a sandbox that is open; `sample_cleanup` closes it."""
        super().__init__()
        self.sandbox = sandbox
        self._limits = limits

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BwrapConfig:
        """Read the configuration of a log."""
        fields = {_OLD_FIELDS.get(name, name): value for name, value in config.items()}
        return BwrapConfig.model_validate(fields)

    @classmethod
    async def task_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None
    ) -> None:
        """Remove the sandboxes of runs that were killed."""
        checked = _checked(config, task_name)
        await asyncio.to_thread(sweep, checked.sandboxes)
        # An environment that is not built yet takes minutes, and samples have limits.
        await asyncio.to_thread(_spec, checked)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],  # noqa: ARG003  # Inspect passes it by name
    ) -> dict[str, SandboxEnvironment]:
        checked = _checked(config, task_name)
        spec = await asyncio.to_thread(_spec, checked)
        sandbox = open_sandbox(checked.sandboxes, spec, checked.limits)
        return {"default": cls(sandbox, checked.limits)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,  # noqa: ARG003
        config: SandboxEnvironmentConfigType | None,  # noqa: ARG003
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,  # noqa: ARG003, FBT001
    ) -> None:
        """Close the sample's sandbox and remove its files."""
        for environment in environments.values():
            await asyncio.to_thread(environment.as_type(cls).sandbox.close)

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:  # noqa: ARG003
        """Remove the sandboxes of evals that were killed."""
        await asyncio.to_thread(sweep, sandbox_root(default_cache()))

    async def exec(  # noqa: PLR0913, PLR0917  # Inspect's signature
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,  # noqa: ARG002, FBT001, FBT002
        concurrency: bool = True,  # noqa: ARG002, FBT001, FBT002
    ) -> ExecResult[str]:
        """Run a command once, because a training run must not be repeated."""
        if user not in (None, USER):
            raise SandboxUserUnsupportedError(f"commands run as {USER}, not as {user}")
        execution = await self.sandbox.execute(
            cmd,
            stdin=input.encode() if isinstance(input, str) else input,
            cwd=WORKSPACE if cwd is None else cwd,
            env=env,
            timeout=timeout,
        )
        stdout = execution.stdout.decode(errors="replace")
        stderr = execution.stderr.decode(errors="replace")
        if execution.killed == "timeout":
            raise ExecutionTimedOut(timeout or execution.seconds, stdout, stderr)
        if _not_permitted(execution):
            raise os_error(errno.EACCES, cmd[0])
        if execution.killed is not None:
            limit = {
                "memory": f"{self._limits.memory_mb} MB memory limit",
                "disk": (
                    f"disk limit of {self._limits.workspace_mb} MB or its file limit"
                ),
                "pipes": f"limit of {self._limits.pipes} pipes",
            }[execution.killed]
            stderr += f"\n[killed: the {limit} was reached]\n"
        returncode = execution.returncode
        return ExecResult(returncode == 0, returncode, stdout, stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        data = contents.encode() if isinstance(contents, str) else contents
        if not self.sandbox.reaches(file):
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), file)
        self.sandbox.write(file, data)

    @overload
    async def read_file(self, file: str, text: Literal[True] = ...) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(
        self,
        file: str,
        text: bool = True,  # noqa: FBT001, FBT002  # Inspect's signature
    ) -> str | bytes:
        """Read a file; those of workspace, /tmp and mounts need no process."""
        try:
            if self.sandbox.reaches(file):
                limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
                contents = self.sandbox.read(file, limit=limit)
            else:
                contents = await self._read_inside(file)
        except OSError as error:
            if error.errno == errno.EFBIG:
                limit_text = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
                raise OutputLimitExceededError(limit_text, None) from error
            raise
        return contents.decode() if text else contents

    async def _read_inside(self, file: str) -> bytes:
        command = ["cat", "--", file]
        execution = await self.sandbox.execute(command, timeout=_READ_SECONDS)
        if execution.truncated:
            raise os_error(errno.EFBIG, file)
        for number in (errno.ENOENT, errno.EISDIR, errno.EACCES):
            if os.strerror(number).encode() in execution.stderr:
                raise os_error(number, file)
        if execution.returncode != 0:
            raise os_error(errno.EIO, file)
        return execution.stdout


def _checked(
    config: SandboxEnvironmentConfigType | None, task_name: str
) -> BwrapConfig:
    """Return the configuration; a string names an environment."""
    if config is None:
        return BwrapConfig()
    if isinstance(config, str):
        return BwrapConfig(spec=config)
    if not isinstance(config, BwrapConfig):
        raise SandboxError(
            f"{task_name}: the bwrap sandbox takes a BwrapConfig or the name of an"
            " environment as configuration"
        )
    return config


def _spec(config: BwrapConfig) -> SandboxSpec:
    """Return the contents of the sandbox; build a named environment if need be."""
    if isinstance(config.spec, SandboxSpec):
        return config.spec
    folder = Path(config.spec)
    if (folder / "bin" / "python").exists():
        return SandboxSpec(agent_env=folder)
    names = get_args(AgentEnvName)
    for name in names:
        # Inspect takes every string for a file, and makes an absolute path of it.
        if folder.name == name:
            return SandboxSpec(agent_env=ensure_agent_env(default_cache(), name).path)
    raise SandboxError(
        f"{config.spec} is not an environment of the bwrap sandbox; give one of"
        f" {', '.join(names)}, or the path of a virtual environment"
    )


def _not_permitted(execution: Execution) -> bool:
    refused = os.strerror(errno.EACCES).encode() in execution.stderr
    by_wrapper = execution.stderr.startswith(_WRAPPERS)
    return execution.returncode == CANNOT_RUN and refused and by_wrapper
