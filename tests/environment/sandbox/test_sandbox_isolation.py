"""Isolation of files, network and machine; tests/redteam has the attacks on it."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.redteam.ordinary import VERSION, copy_interpreter

import mlagentbench
from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox.sandbox import (
    Mount,
    Sandbox,
    SandboxSpec,
    open_sandbox,
)
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio

SECRET = "label-4f1d8b"
NO_RIGHTS = ("Inh", "Prm", "Eff", "Amb")

WALK = """
import json, os
seen = []
for folder, folders, files in os.walk("/", onerror=lambda error: None):
    seen += [os.path.join(folder, name) for name in folders + files]
    if folder == "/":
        folders[:] = set(folders) - {"proc", "dev"}
print(json.dumps(seen))
"""


async def python(sandbox: Sandbox, code: str, *arguments: str):
    return await sandbox.execute(["python", "-c", code, *arguments], timeout=300)


@pytest.fixture
def prepared(make_sandbox, tmp_path) -> Sandbox:
    public, starter = tmp_path / "public", tmp_path / "starter"
    public.mkdir()
    starter.mkdir()
    (public / "train.csv").write_text("a,b\n1,2\n")
    (tmp_path / "metric.py").write_text("def metric(): ...\n")
    (starter / "train.py").write_text("print('hello')\n")
    return make_sandbox(
        starter=starter,
        mounts=(
            Mount(source=public, target="/workspace/data"),
            Mount(source=tmp_path / "metric.py", target="/workspace/evaluate.py"),
        ),
        environment={"MLAB_SEED": "7"},
    )


async def test_nothing_of_the_harness_its_data_or_the_home_folder_exists(
    make_sandbox, agent_env
):
    # Output is cut at the limit, and a whole system has many files.
    sandbox = make_sandbox(Limits(output_kb=128 * 1024))
    seen = [Path(path) for path in json.loads((await python(sandbox, WALK)).stdout)]
    names = {path.name for path in seen}
    assert not {"mlagentbench", "inspect_ai", "answers.csv"} & names
    assert not any("mlagentbench" in name for name in names)
    assert {path.parts[1] for path in seen} <= {
        *("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "etc"),
        *("dev", "proc", "tmp", "workspace", Path(sys.base_prefix).parts[1]),
    }
    assert not [path for path in seen if path.is_relative_to(sys.prefix)]


async def test_nothing_of_the_hosts_environment_is_passed_on(prepared, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    done = await python(prepared, "import os; print(dict(os.environ))")
    given = set(eval(done.stdout))
    assert "SOME_API_KEY" not in given
    assert given >= {"MLAB_SEED", "HOME", "PATH"}
    listed = await output_of(prepared, "cat /proc/*/environ")
    assert SECRET not in listed


async def output_of(sandbox: Sandbox, script: str) -> str:
    done = await sandbox.execute(["sh", "-c", script], timeout=300)
    return (done.stdout + done.stderr).decode(errors="replace")


async def test_the_only_network_is_a_loopback_of_its_own(prepared):
    code = """
import socket
print([name for _, name in socket.if_nameindex()])
server = socket.create_server(("localhost", 0))
socket.create_connection(server.getsockname()).close()
"""
    done = await python(prepared, code)
    assert (done.returncode, done.stdout) == (0, b"['lo']\n"), done.stderr


async def test_no_right_is_left_and_none_can_be_won(prepared):
    status = await output_of(prepared, "cat /proc/self/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert not any(int(fields[f"Cap{name}"], 16) for name in NO_RIGHTS)
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert "0" not in fields["Uid"].split()


@pytest.mark.parametrize(
    "attack",
    [
        "echo x > /proc/sys/kernel/hostname",
        "echo x > /opt/agent-env/bin/new",
        "echo x > /new",
        "echo x > /dev/new",
        "date -s 2001-01-01",
        "dmesg",
        'nice -n -5 true && test "$(nice -n -5 nice)" = -5',
        "ulimit -Hn 1000000",
    ],
)
async def test_the_machine_cannot_be_changed(prepared, attack):
    done = await prepared.execute(["sh", "-c", attack], timeout=300)
    assert done.returncode != 0, done


async def test_the_first_process_cannot_be_killed_or_used(prepared):
    code = """
import os, signal
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
    try:
        os.kill(1, number)
    except PermissionError:
        pass
for number in range(3, 64):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.open(f"/proc/1/fd/{number}", flags)
            print("opened", number)
        except OSError:
            pass
print("alive")
"""
    assert (await python(prepared, code)).stdout == b"alive\n"


SYSCALLS = {
    "x86_64": {"io_uring_setup": 425, "keyctl": 250, "bpf": 321, "userfaultfd": 323,
               "perf_event_open": 298, "ptrace": 101, "process_vm_readv": 310,
               "setns": 308, "pivot_root": 155, "kexec_load": 246, "init_module": 175},
    "aarch64": {"io_uring_setup": 425, "keyctl": 219, "bpf": 280, "userfaultfd": 282,
                "perf_event_open": 241, "ptrace": 117, "process_vm_readv": 270,
                "setns": 268, "pivot_root": 41, "kexec_load": 104, "init_module": 105},
}  # fmt: skip


async def test_calls_that_no_training_run_needs_are_refused(prepared):
    code = """
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0, 0, 0)
    print(name, errno.errorcode.get(ctypes.get_errno()))
"""
    wanted = SYSCALLS[platform.machine()]
    done = await python(prepared, code, json.dumps(wanted))
    assert done.stdout.decode().splitlines() == [f"{name} EPERM" for name in wanted]


async def test_a_closed_workspace_does_not_stop_the_next_command(prepared):
    await prepared.execute(["chmod", "000", "/workspace", "/tmp"])
    assert (await prepared.execute(["python", "train.py"])).stdout == b"hello\n"


async def test_a_workspace_closed_while_it_is_watched_does_no_harm(prepared):
    code = "import os, time; os.chmod('/workspace', 0); time.sleep(1); print('done')"
    assert (await prepared.execute(["python", "-c", code])).stdout == b"done\n"


async def test_odd_names_and_set_uid_files_do_no_harm(prepared, sandboxes):
    code = r"""
import os
for name in (b"\xff\n\x1b[31m", b"-rf", b" ", b"*", "\u202e".encode()):
    open(b"/workspace/" + name, "wb").close()
os.symlink("/etc/passwd", "/workspace/link")
os.symlink("/", "/tmp/root")
os.mkfifo("/workspace/pipe")
open("/workspace/suid", "wb").close(); os.chmod("/workspace/suid", 0o6777)
os.truncate("/workspace/suid", 2**30)
for _ in range(1500):
    os.mkdir("d"); os.chdir("d")
"""
    assert (await python(prepared, code)).returncode == 0
    assert (prepared.workspace / "suid").exists()
    prepared.close()
    assert [path for path in sandboxes.iterdir() if path.is_dir()] == []


async def test_threads_pools_and_arrays_work_under_the_filter(prepared):
    code = """
import multiprocessing, threading, numpy
from sklearn.ensemble import RandomForestClassifier
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(square, range(10))))
    work = numpy.linalg.svd, (numpy.eye(50),)
    threads = [threading.Thread(None, work[0], None, work[1]) for _ in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    x = numpy.random.default_rng(0).random((50, 3))
    print(RandomForestClassifier(10, n_jobs=2).fit(x, x[:, 0] > .5).n_classes_)
"""
    prepared.write("pool.py", code.encode())
    done = await prepared.execute(["python", "pool.py"], timeout=120)
    assert done.stdout == b"285\n2\n", done.stderr


def test_an_interpreter_that_a_sandbox_would_hide_is_refused(sandboxes, tmp_path):
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin" / "python").touch()
    (tmp_path / "env" / "bin" / "python").symlink_to(tmp_path / "bin" / "python")
    with pytest.raises(MachineError, match="move Python elsewhere"):
        open_sandbox(sandboxes, SandboxSpec(agent_env=tmp_path / "env"), Limits())


async def test_a_package_installed_for_the_base_interpreter_is_covered(
    elsewhere, sandboxes
):
    """As after `pip install mlagentbench` without a virtual environment."""
    base = elsewhere / "base"
    library = base / "lib" / VERSION
    executable = copy_interpreter(base)
    for package in ("mlagentbench", "other"):
        (library / "site-packages" / package).mkdir(parents=True)
        (library / "site-packages" / package / "__init__.py").write_text(SECRET)
    env = elsewhere / "env"
    subprocess.run([executable, "-m", "venv", "--without-pip", env], check=True)
    sandbox = open_sandbox(sandboxes, SandboxSpec(agent_env=env), Limits())
    try:
        done = await python(
            sandbox,
            "import os, sys; print(sys.base_prefix, os.listdir(sys.argv[1]))",
            str(library / "site-packages"),
        )
    finally:
        sandbox.close()
    assert done.stdout.decode() == f"{base} []\n", done.stderr


@pytest.mark.skipif(
    not Path("/usr/bin/python3").exists(), reason="the system has no Python of its own"
)
@pytest.mark.parametrize("folder", ["/usr/bin", "/bin"])
async def test_the_systems_own_interpreter_serves_too(tmp_path, sandboxes, folder):
    env = tmp_path / "env"
    venv = [f"{folder}/python3", "-m", "venv", "--without-pip", str(env)]
    subprocess.run(venv, check=True, env={})
    sandbox = open_sandbox(sandboxes, SandboxSpec(agent_env=env), Limits())
    try:
        code = """
import glob, sys
installed = [glob.glob(f"/usr/{p}/python3*/{n}-packages/*")
             for p in ("lib", "local/lib") for n in ("site", "dist")]
print(sys.prefix, sum(installed, []))
"""
        done = await python(sandbox, code)
    finally:
        sandbox.close()
    assert done.stdout == b"/opt/agent-env []\n", done.stderr


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (Path(mlagentbench.__file__).parents[3], "no sandbox may see"),
        (Path(os.__file__).parent / "json", "move the cache"),
    ],
)
def test_a_mount_of_the_harness_or_of_shared_files_is_refused(
    make_sandbox, source, why
):
    mount = Mount(source=source, target="/workspace/data")
    with pytest.raises(MachineError, match=why):
        make_sandbox(mounts=(mount,))


@pytest.mark.parametrize(
    "target", ["data", "/workspace/a/b", "/tmp/x", "/workspace/../etc", "/workspace/"]
)
def test_a_mount_stays_out_of_the_agents_hands(tmp_path, target):
    with pytest.raises(ValueError, match=target):
        Mount(source=tmp_path, target=target)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives users of their own")
async def test_two_boxes_run_as_two_users(make_sandbox):
    one, two = [await make_sandbox().execute(["id", "-u"]) for _ in range(2)]
    assert one.stdout != two.stdout
