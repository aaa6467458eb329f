"""Taking files out of a workspace: one at a time, capped, as bytes."""

from pathlib import Path

from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironment,
    override_sandbox_output_limit,
)

from mlagentbench.core.errors import SubmissionError
from mlagentbench.environment.paths import WORKSPACE, workspace_path


async def collect(
    sandbox: SandboxEnvironment, names: tuple[str, ...], into: Path, *, limit_mb: float
) -> None:
    """Copy the named workspace files below `into`, or say why that cannot be."""
    left = int(limit_mb * 2**20)
    for name in names:
        contents = await _contents(sandbox, name, left, limit_mb)
        left -= len(contents)
        target = into / workspace_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents)


async def fingerprint(sandbox: SandboxEnvironment, names: tuple[str, ...]) -> list[str]:
    """Return one line per file that exists, different whenever one was written."""
    paths = [str(WORKSPACE / name) for name in names]
    # The change time cannot be set by the agent, unlike the modification time.
    command = ["stat", "-c", "%n %i %s %y %z", "--", *paths]
    result = await sandbox.exec(command, timeout=30, timeout_retry=False)
    return result.stdout.splitlines()


async def _contents(
    sandbox: SandboxEnvironment, name: str, left: int, limit_mb: float
) -> bytes:
    try:
        with override_sandbox_output_limit(max(left, 1), "read_file"):
            return await sandbox.read_file(str(WORKSPACE / name), text=False)
    except FileNotFoundError:
        raise SubmissionError(f"{name} is missing") from None
    except IsADirectoryError:
        raise SubmissionError(f"{name} is a folder, not a file") from None
    except OutputLimitExceededError:
        raise SubmissionError(
            f"{name} makes the submission larger than {limit_mb:g} MB"
        ) from None
    except OSError as error:
        raise SubmissionError(f"{name}: {error.strerror or error}") from None
