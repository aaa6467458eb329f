"""Commands in a sandbox: input, output, torch, and that they always end."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redteam.leftovers import processes_naming

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.agent_env import find_agent_env
from mlagentbench.environment.sandbox.process import HeadAndTail
from mlagentbench.environment.sandbox.sandbox import Sandbox, SandboxSpec, open_sandbox
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
    # The clock starts when the mark of the start is read, a moment later.
    assert done.seconds >= 0.1


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
    done = await sandbox.execute(["true"], stdin=b"x" * (5 * 2**20), timeout=300)
    assert done.returncode == 0


async def test_without_input_a_command_sees_its_end_at_once(sandbox):
    assert (await sandbox.execute(["cat"], timeout=300)).killed is None


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
    done = await python(sandbox, code, timeout=300)
    assert done.stdout == b"half a line"
    assert done.truncated


@pytest.mark.parametrize("silence", ["pass", "os.closerange(0, 3)"])
async def test_a_daemon_is_gone_when_its_command_has_ended(sandbox, silence):
    done = await python(sandbox, DAEMON.format(silence=silence), timeout=300)
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


TRAIN = """
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from tokenizers import Tokenizer, models
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 20)
    data = TensorDataset(x, (x.sum(1) > 0).long())
    net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
    steps = torch.optim.Adam(net.parameters())
    for a, b in DataLoader(data, batch_size=64, num_workers=1):
        steps.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        steps.step()
    torch.set_num_threads(2)
    assert torch.isfinite(torch.randn(300, 300) @ torch.randn(300, 300)).all()
    save_file(net.state_dict(), "model.safetensors")
    Tokenizer(models.BPE()).train_from_iterator(["a b c"] * 10)
    dist.init_process_group("gloo", init_method="file:///tmp/g", rank=0, world_size=1)
    total = torch.ones(3)
    dist.all_reduce(total)
    print(total.tolist())
"""


@pytest.mark.slow
async def test_a_network_is_trained_with_workers_and_collectives(cache, sandboxes):
    built = find_agent_env(cache, "torch")
    if built is None:
        pytest.skip("the torch environment is not built; a torch task builds it")
    sandbox = open_sandbox(sandboxes, SandboxSpec(agent_env=Path(built.path)), Limits())
    try:
        sandbox.write("train.py", TRAIN.encode())
        done = await sandbox.execute(["python", "train.py"], timeout=300)
    finally:
        sandbox.close()
    assert done.stdout.strip() == b"[1.0, 1.0, 1.0]", done.stderr


def kept(limit: int, *pieces: bytes) -> HeadAndTail:
    keeper = HeadAndTail(limit)
    for piece in pieces:
        keeper.feed(piece)
    return keeper


def test_what_fits_is_kept_whole():
    keeper = kept(10, b"01234", b"56789")
    assert keeper.contents() == b"0123456789"
    assert not keeper.dropped


def test_the_middle_is_dropped_and_said_to_be():
    keeper = kept(10, b"abcdefgh", b"ijklmnop")
    assert keeper.contents() == b"abcde\n[... 6 bytes dropped ...]\nlmnop"
    assert keeper.dropped


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=1, max_value=50))
def test_head_tail_and_count_are_right_however_it_arrives(pieces, limit):
    whole = b"".join(pieces)
    keeper = kept(limit, *pieces)
    if len(whole) <= limit:
        assert keeper.contents() == whole
    else:
        head, tail = whole[: limit - limit // 2], whole[len(whole) - limit // 2 :]
        dropped = len(whole) - limit
        marker = f"\n[... {dropped} bytes dropped ...]\n".encode()
        assert keeper.contents() == head + marker + tail


def test_a_long_stream_takes_no_more_memory_than_its_limit():
    keeper = HeadAndTail(1000)
    for _ in range(1000):
        keeper.feed(os.urandom(10_000))
    assert len(keeper.contents()) < 1100


BURN = "import time\nwhile time.process_time() < 0.6: pass"


async def test_cpu_seconds_count_processes_that_have_ended(sandbox):
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"
    await python(sandbox, child)
    used = sandbox.cpu_seconds()
    # Without control groups the last quarter of a second may be missing.
    assert used > 0.3
    await python(sandbox, BURN)
    assert sandbox.cpu_seconds() > used + 0.3


async def test_waiting_takes_no_cpu_seconds(sandbox):
    await sandbox.execute(["sleep", "1"])
    assert sandbox.cpu_seconds() < 0.5


async def test_cpu_seconds_of_a_command_are_known_while_it_runs(sandbox):
    running = asyncio.create_task(python(sandbox, "while True: pass", timeout=300))
    deadline = asyncio.get_running_loop().time() + 60
    while sandbox.cpu_seconds() < 0.3 and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.05)
    assert sandbox.cpu_seconds() >= 0.3
    running.cancel()
