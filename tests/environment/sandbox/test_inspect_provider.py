"""The sandbox through Inspect's eyes, beyond its own checks."""

from pathlib import Path

import pytest
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUserUnsupportedError,
    override_sandbox_output_limit,
)

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.inspect_provider import (
    BwrapConfig,
    BwrapSandbox,
    ExecutionTimedOut,
)
from mlagentbench.environment.sandbox.sandbox import Mount, SandboxSpec
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio


@pytest.fixture
def sandbox(make_sandbox) -> BwrapSandbox:
    limits = Limits(memory_mb=256, workspace_mb=50)
    return BwrapSandbox(make_sandbox(limits), limits)


async def test_time_that_is_up_keeps_what_was_said(sandbox):
    with pytest.raises(ExecutionTimedOut) as caught:
        await sandbox.exec(
            ["sh", "-c", "echo half; echo oops >&2; sleep 60"], timeout=5
        )
    assert caught.value.truncated_output == "half\n\noops\n"
    assert isinstance(caught.value, TimeoutError)
    assert "5 seconds" in str(caught.value)


async def test_a_kill_for_memory_is_said_on_standard_error(sandbox):
    code = "held = []\nwhile True: held.append(b'x' * 20_000_000)"
    done = await sandbox.exec(["python", "-c", code], timeout=300)
    assert not done.success
    assert done.stderr.endswith("[killed: the 256 MB memory limit was reached]\n")


async def test_a_kill_for_disk_is_said_on_standard_error(sandbox):
    script = "while true; do head -c 5000000 /dev/zero > $(mktemp); sleep 0.02; done"
    done = await sandbox.exec(["sh", "-c", script], timeout=300)
    assert "[killed: the disk limit of 50 MB" in done.stderr


async def test_only_the_agents_user_runs_commands(sandbox):
    assert (await sandbox.exec(["whoami"], user="agent")).stdout == "agent\n"
    for user in ("root", "0", "nobody"):
        with pytest.raises(SandboxUserUnsupportedError):
            await sandbox.exec(["true"], user=user)


async def test_a_command_that_itself_says_126_is_a_result(sandbox):
    done = await sandbox.exec(["sh", "-c", "echo Permission denied >&2; exit 126"])
    assert done.returncode == 126


async def test_output_that_is_no_text_is_replaced(sandbox):
    done = await sandbox.exec(["printf", r"\377a"])
    assert done.stdout == "\ufffda"


async def test_files_outside_workspace_and_tmp_are_read_but_not_written(sandbox):
    assert "agent" in await sandbox.read_file("/etc/passwd")
    with pytest.raises(FileNotFoundError):
        await sandbox.read_file("/etc/shadow")
    with pytest.raises(PermissionError, match="/etc/new"):
        await sandbox.write_file("/etc/new", "x")


async def test_line_ends_are_kept(sandbox):
    await sandbox.write_file("crlf.txt", "a\r\nb\n")
    assert await sandbox.read_file("crlf.txt") == "a\r\nb\n"


async def test_a_file_over_the_limit_is_not_read(sandbox):
    await sandbox.write_file("big", b"x" * 100)
    with (
        override_sandbox_output_limit(99, "read_file"),
        pytest.raises(OutputLimitExceededError),
    ):
        await sandbox.read_file("big", text=False)


async def test_planted_links_are_not_read(sandbox):
    await sandbox.exec(["ln", "-s", "/etc/passwd", "link"])
    with pytest.raises(PermissionError):
        await sandbox.read_file("link")


async def test_a_sample_opens_a_sandbox_and_leaves_nothing(sandboxes, agent_env):
    config = BwrapConfig(sandboxes=sandboxes, spec=SandboxSpec(agent_env=agent_env))
    await BwrapSandbox.task_init("task", config)
    opened = await BwrapSandbox.sample_init("task", config, {})
    done = await opened["default"].exec(["pwd"])
    assert done.stdout == "/workspace\n"
    await BwrapSandbox.sample_cleanup("task", config, opened, interrupted=True)
    assert [path for path in sandboxes.iterdir() if path.is_dir()] == []


async def test_a_sample_without_a_configuration_is_refused():
    with pytest.raises(SandboxError, match="BwrapConfig"):
        await BwrapSandbox.sample_init("task", None, {})


def test_a_configuration_survives_a_log(tmp_path):
    config = BwrapConfig(
        sandboxes=tmp_path,
        spec=SandboxSpec(
            agent_env=Path("/env"),
            mounts=(Mount(source=tmp_path, target="/workspace/data"),),
            environment={"MLAB_SEED": "3"},
        ),
        limits=Limits(memory_mb=17),
    )
    spec = SandboxEnvironmentSpec("bwrap", config)
    logged = spec.model_dump_json()
    older = logged.replace('"sandboxes"', '"rooms"').replace('"spec"', '"furnishing"')
    for log in (logged, older):
        assert SandboxEnvironmentSpec.model_validate_json(log).config == config
