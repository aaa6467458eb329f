"""The first process of a sandbox: its limits, its exit codes, and that it is closed."""

import pytest

pytestmark = pytest.mark.anyio


async def python(sandbox, code: str) -> str:
    done = await sandbox.execute(["python", "-c", code], timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


async def test_its_memory_and_descriptors_are_closed_to_the_command(sandbox):
    code = """
import os
for name, way in (("mem", os.O_RDWR), ("fd", os.O_RDONLY), ("environ", os.O_RDONLY)):
    try:
        os.open(f"/proc/1/{name}", way)
        print(name, "was opened")
    except PermissionError:
        pass
print(os.getppid())
"""
    assert await python(sandbox, code) == "1\n"


async def test_limits_that_it_sets_hold_for_it_and_for_the_command(sandbox):
    code = """
import resource
names = ("CORE", "FSIZE", "NOFILE", "MEMLOCK", "SIGPENDING", "MSGQUEUE")
for name in names:
    print(*resource.getrlimit(getattr(resource, f"RLIMIT_{name}")))
"""
    expected = [1, 2**31, 512, 65536, 1024, 0]
    lines = (await python(sandbox, code)).splitlines()
    assert lines == [f"{value} {value}" for value in expected]
    own = await python(sandbox, "print(open('/proc/1/limits').read())")
    assert "Max file size             2147483648" in own


async def test_exit_codes_and_signals_of_the_command_come_back(sandbox):
    assert (await sandbox.execute(["sh", "-c", "exit 41"])).returncode == 41
    assert (await sandbox.execute(["sh", "-c", "kill -TERM $$"])).returncode == 143
    missing = await sandbox.execute(["no-such-program"])
    assert (missing.returncode, b"No such file" in missing.stderr) == (127, True)
    assert (await sandbox.execute(["/tmp"])).returncode == 126


async def test_a_script_without_an_interpreter_line_is_run_by_the_shell(sandbox):
    await sandbox.execute(["sh", "-c", "echo 'echo $0 $1' > x; chmod +x x"])
    done = await sandbox.execute(["./x", "word"])
    assert (done.returncode, done.stdout) == (0, b"./x word\n")


async def test_signals_that_python_ignores_work_in_the_command(sandbox):
    done = await sandbox.execute(["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"])
    assert done.stdout == b"y\n141\n"


async def test_the_command_inherits_no_descriptors(sandbox):
    listed = await python(sandbox, "import os; print(*os.listdir('/proc/self/fd'))")
    assert listed == "0 1 2 3\n"


async def test_it_reaps_orphans_and_no_signal_of_the_command_ends_it(sandbox):
    code = """
import os, signal, time
for _ in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.wait()
for number in signal.valid_signals() - {signal.SIGCHLD}:
    try:
        os.kill(1, number)
    except PermissionError:
        pass
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    alive = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(alive) == 2:
        break
    time.sleep(0.05)
print(sorted(alive)[0], len(alive))
"""
    assert await python(sandbox, code) == "1 2\n"
