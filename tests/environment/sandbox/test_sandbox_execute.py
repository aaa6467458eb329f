"""Commands in a sandbox: input, output, and that they always end."""

import asyncio

import pytest
from tests.redteam.leftovers import processes_naming

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.sandbox import Sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {silence}
        while True:
            time.sleep(0.01)
    os._exit(0)
print("main is done", flush=True)
"""
IGNORES_SIGNALS = """
import signal, time
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""


async def python(sandbox: Sandbox, code: str, **options):
    return await sandbox.execute(["python", "-c", code], **options)


async def test_streams_and_exit_code_come_back_as_they_were(sandbox):
    script = "sleep 0.2; printf out; printf err >&2; exit 7"
    done = await sandbox.execute(["sh", "-c", script])
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out", b"err")
    assert done.killed is None
    assert not done.truncated
    assert done.seconds >= 0.2


async def test_null_bytes_of_the_command_are_kept(sandbox):
    done = await sandbox.execute(["printf", r"a\0b\0"])
    assert done.stdout == b"a\0b\0"
    done = await sandbox.execute(["sh", "-c", r"printf '\0a\0' >&2"])
    assert done.stderr == b"\0a\0"


async def test_a_death_by_signal_is_reported_as_a_shell_would(sandbox):
    assert (await sandbox.execute(["sh", "-c", "kill -SEGV $$"])).returncode == 128 + 11


async def test_the_agents_interpreter_and_packages_are_first_on_the_path(sandbox):
    code = "import sys, sklearn, pandas; print(sys.prefix)"
    assert (await python(sandbox, code)).stdout == b"/opt/agent-env\n"


async def test_input_of_many_megabytes_arrives_whole(sandbox):
    done = await sandbox.execute(["wc", "-c"], stdin=b"x" * (20 * 2**20))
    assert int(done.stdout) == 20 * 2**20


async def test_input_that_nobody_reads_holds_nothing_up(sandbox):
    done = await sandbox.execute(["true"], stdin=b"x" * (5 * 2**20), timeout=20)
    assert done.returncode == 0


async def test_without_input_a_command_sees_its_end_at_once(sandbox):
    assert (await sandbox.execute(["cat"], timeout=20)).killed is None


async def test_variables_are_added_and_the_fixed_ones_stay(sandbox):
    done = await python(
        sandbox,
        "import os; print(os.environ['MINE'], os.environ['OMP_NUM_THREADS'])",
        env={"MINE": "a b\n$c"},
    )
    assert done.stdout == b"a b\n$c 1\n"


async def test_a_name_that_is_no_variable_is_refused(sandbox):
    with pytest.raises(ValueError, match="not a variable name"):
        await sandbox.execute(["true"], env={"A=B --chdir": "x"})


async def test_the_loader_is_not_steered_before_rights_are_dropped(sandbox):
    sandbox.write("evil.so", b"not a library")
    done = await sandbox.execute(["id", "-u"], env={"LD_PRELOAD": "/workspace/evil.so"})
    complaints = [line for line in done.stderr.splitlines() if b"preloaded" in line]
    assert done.returncode == 0
    assert len(complaints) == 1, "only the command itself may meet the variable"


async def test_a_folder_is_changed_to_with_the_agents_own_rights(sandbox):
    await sandbox.execute(["mkdir", "sub"])
    assert (await sandbox.execute(["pwd"], cwd="sub")).stdout == b"/workspace/sub\n"
    assert (await sandbox.execute(["pwd"], cwd="/usr")).stdout == b"/usr\n"
    missing = await sandbox.execute(["pwd"], cwd="nowhere")
    assert missing.returncode != 0
    assert b"nowhere" in missing.stderr


async def test_arguments_are_passed_on_letter_by_letter(sandbox):
    odd = ["--", "$HOME", "`id`", "a b", "\n", "*", "é", "-c", "{status}", ""]
    code = "import sys; print(sys.argv[1:])"
    done = await sandbox.execute(["python", "-c", code, *odd])
    assert done.stdout.decode() == f"{odd}\n"


@pytest.mark.parametrize("argument", ["a\0b", "x" * (200 * 1024), "\ud800"])
async def test_an_impossible_argument_is_the_callers_fault(sandbox, argument):
    done = await sandbox.execute(["echo", argument])
    assert done.returncode == 126
    assert done.stderr


async def test_an_unknown_program_is_reported_not_raised(sandbox):
    assert (await sandbox.execute(["no-such-program"])).returncode == 127


async def test_files_last_from_one_command_to_the_next(sandbox):
    await sandbox.execute(["sh", "-c", "echo 1 > kept; echo 2 > /tmp/kept"])
    assert (await sandbox.execute(["cat", "kept", "/tmp/kept"])).stdout == b"1\n2\n"


async def test_two_commands_can_run_at_once(sandbox):
    both = await asyncio.gather(*(sandbox.execute(["sleep", "0.2"]) for _ in range(2)))
    assert [done.returncode for done in both] == [0, 0]


async def test_a_flood_is_drained_and_only_its_ends_are_kept(make_sandbox):
    sandbox = make_sandbox(Limits(output_kb=64))
    code = """
import sys
sys.stdout.write("first")
for _ in range(300):
    sys.stdout.write("x" * 10**6)
sys.stdout.write("last")
"""
    done = await python(sandbox, code, timeout=120)
    assert done.returncode == 0
    assert done.truncated
    assert done.stdout.startswith(b"first")
    assert done.stdout.endswith(b"last")
    dropped = 3 * 10**8 + 9 - 64 * 1024
    assert f"\n[... {dropped} bytes dropped ...]\n".encode() in done.stdout


async def test_a_partial_line_and_a_flood_on_the_other_stream_do_not_block(
    make_sandbox,
):
    sandbox = make_sandbox(Limits(output_kb=64))
    code = """
import sys
sys.stdout.write("half a line"); sys.stdout.flush()
for _ in range(50):
    sys.stderr.write("e" * 10**6)
"""
    done = await python(sandbox, code, timeout=60)
    assert done.stdout == b"half a line"
    assert done.truncated


@pytest.mark.parametrize("silence", ["pass", "os.closerange(0, 3)"])
async def test_a_daemon_is_gone_when_its_command_has_ended(sandbox, silence):
    done = await python(sandbox, DAEMON.format(silence=silence), timeout=60)
    assert done.stdout == b"main is done\n"
    assert done.killed is None
    assert _alive(sandbox) == []


async def test_what_ignores_signals_is_killed_when_its_time_is_up(sandbox):
    done = await python(sandbox, IGNORES_SIGNALS, timeout=3.0)
    assert done.killed == "timeout"
    assert done.stdout == b"ready\n"
    assert _alive(sandbox) == []


async def test_a_cancelled_command_is_gone_at_once(sandbox):
    running = asyncio.ensure_future(python(sandbox, IGNORES_SIGNALS))
    await asyncio.sleep(0.5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert _alive(sandbox) == []
    assert (await sandbox.execute(["true"])).returncode == 0


async def test_a_command_cancelled_at_any_moment_leaves_nothing(sandbox):
    for delay in (0.0, 0.001, 0.003, 0.005, 0.01, 0.02, 0.03):
        running = asyncio.ensure_future(sandbox.execute(["sleep", "60"]))
        await asyncio.sleep(delay)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert _alive(sandbox) == []


async def test_closing_kills_what_runs_and_removes_the_folder(make_sandbox):
    sandbox = make_sandbox()
    running = asyncio.ensure_future(sandbox.execute(["sleep", "60"]))
    await asyncio.sleep(0.3)
    sandbox.close()
    assert not sandbox.workspace.exists()
    with pytest.raises(SandboxError):
        await running
    with pytest.raises(SandboxError, match="closed"):
        await sandbox.execute(["true"])
    sandbox.close()


def _alive(sandbox: Sandbox) -> list[int]:
    return list(processes_naming(str(sandbox.workspace.parent)))
