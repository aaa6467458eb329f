"""Limits of memory, processes, disk and files."""

import pytest

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox import watchdog
from mlagentbench.environment.sandbox.sandbox import Sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio


async def python(sandbox: Sandbox, code: str, **options):
    options.setdefault("timeout", 60)
    return await sandbox.execute(["python", "-c", code], **options)


async def test_one_process_that_takes_too_much_memory_is_killed(make_sandbox):
    sandbox = make_sandbox(Limits(memory_mb=256))
    code = """
held = []
while True:
    held.append(b"x" * 20_000_000)
"""
    done = await python(sandbox, code)
    assert done.killed == "memory"
    assert (await sandbox.execute(["true"])).killed is None


async def test_many_processes_that_take_too_much_together_are_killed(make_sandbox):
    sandbox = make_sandbox(Limits(memory_mb=256))
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = b"x" * 80_000_000
        time.sleep(60)
time.sleep(60)
"""
    assert (await python(sandbox, code)).killed == "memory"


async def test_memory_that_forks_share_is_counted_once(make_sandbox):
    sandbox = make_sandbox(Limits(memory_mb=400))
    code = """
import os, time
held = b"x" * 150_000_000
for _ in range(6):
    if os.fork() == 0:
        time.sleep(1.5)
        os._exit(0)
time.sleep(2)
"""
    assert (await python(sandbox, code)).killed is None


async def test_memory_within_the_limit_is_not_disturbed(make_sandbox):
    sandbox = make_sandbox(Limits(memory_mb=512))
    done = await python(sandbox, "x = b'x' * 300_000_000; import time; time.sleep(1)")
    assert (done.returncode, done.killed) == (0, None)


async def test_shared_memory_files_count_as_memory_or_are_full(make_sandbox):
    sandbox = make_sandbox(Limits(memory_mb=256))
    code = """
with open("/dev/shm/x", "wb") as file:
    for _ in range(100):
        file.write(b"x" * 10_000_000)
"""
    done = await python(sandbox, code)
    assert done.killed == "memory" or b"No space left" in done.stderr


@pytest.mark.parametrize(
    "bomb",
    [
        ("bash", ":(){ :|:& };:; sleep 60"),
        ("python", "import os\nwhile True:\n  try: os.fork()\n  except OSError: 0"),
    ],
)
async def test_a_fork_bomb_is_held_and_then_gone(make_sandbox, bomb):
    sandbox = make_sandbox(Limits(processes=64))
    done = await sandbox.execute([bomb[0], "-c", bomb[1]], timeout=2)
    assert done.killed == "timeout"
    assert (await sandbox.execute(["echo", "well"])).stdout == b"well\n"


async def test_no_more_processes_than_allowed_can_be_alive(make_sandbox):
    sandbox = make_sandbox(Limits(processes=40))
    code = """
import os, time
alive = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(30)
        alive += 1
except OSError:
    print(alive)
"""
    assert 20 < int((await python(sandbox, code)).stdout) < 40


async def test_no_single_file_grows_over_its_limit(make_sandbox):
    sandbox = make_sandbox(Limits(file_mb=5))
    code = "f = open('x', 'wb')\nwhile True: f.write(b'x' * 10**6); f.flush()"
    done = await python(sandbox, code)
    assert done.returncode != 0
    assert (sandbox.workspace / "x").stat().st_size <= 5 * 2**20


async def test_no_more_files_than_allowed_can_be_open(make_sandbox):
    sandbox = make_sandbox(Limits(open_files=50))
    done = await python(sandbox, "held = [open('/dev/null') for _ in range(60)]")
    assert b"Too many open files" in done.stderr


async def test_too_many_bytes_on_disk_are_stopped_and_can_be_removed(make_sandbox):
    sandbox = make_sandbox(Limits(workspace_mb=50))
    code = """
import itertools, os, time
for number in itertools.count():
    with open(f"/tmp/{number}", "wb") as file:
        file.write(b"x" * 10**6)
    time.sleep(0.005)
"""
    assert (await python(sandbox, code)).killed == "disk"
    slow_remove = "sleep 1; rm -f /tmp/*; sleep 0.5"
    assert (await sandbox.execute(["sh", "-c", slow_remove])).killed is None
    assert (await python(sandbox, code)).killed == "disk"


NAMELESS = """
import os, time
held = []
while True:
    file = open("x", "wb")
    os.unlink("x")
    file.write(b"x" * 10**6)
    file.flush()
    held.append(file)
    time.sleep(0.005)
"""
CLOSED = """
import os, time
os.makedirs("shut/in")
for number in range(70):
    open(f"shut/in/{number}", "wb").write(b"x" * 10**6)
os.chmod("shut/in", 0)
os.chmod("shut", 0)
time.sleep(30)
"""


@pytest.mark.parametrize("code", [NAMELESS, CLOSED])
async def test_bytes_in_unlinked_files_and_closed_folders_count(make_sandbox, code):
    sandbox = make_sandbox(Limits(workspace_mb=50))
    assert (await python(sandbox, code)).killed == "disk"


async def test_too_many_files_are_stopped(make_sandbox, monkeypatch):
    monkeypatch.setattr(watchdog, "FILES_AT_MOST", 2000)
    sandbox = make_sandbox()
    code = """
import itertools, os
for number in itertools.count():
    os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))
"""
    assert (await python(sandbox, code)).killed == "disk"


async def test_folders_too_deep_to_look_into_are_stopped_and_removed(make_sandbox):
    sandbox = make_sandbox()
    code = """
import os, time
for _ in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("hidden", "wb").write(b"x")
time.sleep(30)
"""
    assert (await python(sandbox, code)).killed == "disk"
    assert (await sandbox.execute(["sleep", "1"])).killed is None


@pytest.mark.parametrize("reserve", ["_DISK_RESERVE", "_MEMORY_RESERVE"])
async def test_nothing_runs_on_a_machine_without_a_reserve(
    make_sandbox, monkeypatch, reserve
):
    sandbox = make_sandbox()
    monkeypatch.setattr(watchdog, reserve, 2**60)
    with pytest.raises(SandboxError, match="are free for sandboxes; free at least"):
        await sandbox.execute(["sleep", "30"])


async def test_a_hole_in_a_file_takes_no_disk(make_sandbox):
    sandbox = make_sandbox(Limits(workspace_mb=50, file_mb=4096))
    done = await python(
        sandbox,
        "import os, time; open('x', 'w'); os.truncate('x', 2**31); time.sleep(1)",
    )
    assert (done.returncode, done.killed) == (0, None)


async def test_a_run_stays_on_the_cores_it_was_given(make_sandbox):
    sandbox = make_sandbox(Limits(cpus=1))
    code = "import os; print(len(os.sched_getaffinity(0)))"
    assert (await python(sandbox, code)).stdout == b"1\n"
    assert (await sandbox.execute(["nproc"])).stdout == b"1\n"
