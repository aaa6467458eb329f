"""The sandbox through Inspect's eyes, beyond its own checks."""

from pathlib import Path

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUserUnsupportedError,
    override_sandbox_output_limit,
)
from inspect_ai.util import sandbox as inspect_sandbox

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.inspect_provider import (
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


@pytest.mark.parametrize("config", ["no-such-folder", Limits()])
async def test_an_unusable_configuration_is_refused(config):
    with pytest.raises(SandboxError, match="environment"):
        await BwrapSandbox.sample_init("task", config, {})


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


@solver
def total_of_a_file() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        script = "import numpy; print(numpy.loadtxt('numbers.txt').sum())"
        done = await inspect_sandbox().exec(["python3", "-c", script])
        state.output.completion = done.stdout + done.stderr
        return state

    return solve


@pytest.mark.parametrize("given", ["bwrap", ("bwrap", "base")])
def test_any_eval_can_use_it(given, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    monkeypatch.setenv("MLAB_SCRATCH", str(tmp_path))
    sample = Sample("Add the numbers.", target="6.0", files={"numbers.txt": "1 2 3"})
    task = Task(
        dataset=[sample], solver=total_of_a_file(), scorer=match(), sandbox=given
    )
    logs = str(tmp_path / "logs")
    (log,) = eval(task, model="mockllm/model", log_dir=logs, display="none")
    assert log.status == "success", log.error
    assert log.samples[0].scores["match"].value == "C"
    assert [path.name for path in (tmp_path / "sandboxes").iterdir()] == [".lock"]
