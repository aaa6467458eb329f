"""Memory and disk that no process shows as its own, with and without cgroups."""

import fcntl
import os
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from mlagentbench.environment.sandbox import sandbox as opening
from mlagentbench.environment.sandbox.safe_files import closing as closing_fd
from mlagentbench.environment.sandbox.sandbox import SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio

SHARED_MEMORY = "/dev/shm"

HELPERS = """
import ctypes, mmap, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
libc.mmap.argtypes += [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
MB = 10**6

def fill(file, megabytes):
    for _ in range(megabytes):
        os.write(file, b"x" * MB)

def nameless():
    return os.open(".", os.O_TMPFILE | os.O_RDWR)

def keep_only_mapped(file):
    # Python's own mappings keep a descriptor.
    libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
    os.close(file)

def send_away(file):
    held.append(socket.socketpair())
    socket.send_fds(held[-1][0], [b"x"], [file])
    os.close(file)

held = []
"""
WAIT = "\nprint('held', flush=True)\ntime.sleep(20)\n"

MEMORY = {
    "shared pages that are no longer mapped": """
size = 20 * 2**20
for _ in range(20):
    place = libc.mmap(None, size, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)
    ctypes.memset(place, 1, size)
    libc.munmap(place + 4096, size - 4096)
""",
    "page tables": """
size, step = 200 * 2**30, 2 * 2**20
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
place = libc.mmap(None, size, mmap.PROT_READ, flags, -1, 0)
libc.madvise(place, size, mmap.MADV_NOHUGEPAGE)
for offset in range(0, size, step):
    ctypes.c_char.from_address(place + offset).value
""",
    "process whose first thread has ended": """
def work():
    held.append(b'x' * 400 * MB)
    time.sleep(20)
threading.Thread(target=work).start()
libc.syscall(ctypes.c_long({'x86_64': 60, 'aarch64': 93}[os.uname().machine]), 0)
""",
    "buffers of TCP": """
listener = socket.create_server(('127.0.0.1', 0))
for _ in range(150):
    sender = socket.create_connection(listener.getsockname())
    held.extend((sender, listener.accept()[0]))
    sender.setblocking(False)
    try:
        while True:
            sender.send(b'x' * MB)
    except BlockingIOError:
        pass
""",
    "buffers of unix sockets": """
for _ in range(500):
    held.extend(socket.socketpair())
    for end in held[-2:]:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
        end.setblocking(False)
        try:
            while True:
                end.send(b'x' * 65536)
        except BlockingIOError:
            pass
""",
    "messages whose sender is closed": """
for _ in range(900):
    sender, receiver = socket.socketpair()
    held.append(receiver)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
    sender.setblocking(False)
    try:
        while True:
            sender.send(b'x' * 65536)
    except BlockingIOError:
        sender.close()
""",
}
DISK = {
    "in flight": """
for _ in range(20):
    file = nameless()
    fill(file, 10)
    send_away(file)
""",
    "in flight in a socket in flight": """
first, second = socket.socketpair()
for _ in range(20):
    file = nameless()
    fill(file, 10)
    socket.send_fds(first, [b'x'], [file])
    os.close(file)
send_away(second.detach())
first.close()
""",
    "mapped only": """
for _ in range(20):
    file = nameless()
    fill(file, 10)
    keep_only_mapped(file)
""",
    "of a thread with descriptors of its own": """
def work():
    libc.unshare(0x400)
    fill(nameless(), 200)
    time.sleep(20)
threading.Thread(target=work).start()
time.sleep(20)
""",
    "of a process that cannot be read": """
libc.prctl(4, 0, 0, 0, 0)
fill(nameless(), 200)
""",
    "in a tree that is renamed": """
os.makedirs('a/b/c')
fill(os.open('a/b/c/x', os.O_CREAT | os.O_WRONLY), 200)
while True:
    os.rename('a', 'z')
    os.rename('z', 'a')
""",
    "in a folder that moves on": """
os.makedirs('a/full')
os.makedirs('z')
fill(os.open('a/full/x', os.O_CREAT | os.O_WRONLY), 200)
while True:
    os.rename('a/full', 'z/full')
    os.rename('z/full', 'a/full')
""",
}


@pytest.fixture(params=["with cgroups", "without cgroups"])
def kind_of_machine(request, monkeypatch):
    if request.param == "without cgroups":
        monkeypatch.setattr(opening, "find_hierarchy", lambda: None)
    elif opening.find_hierarchy() is None:
        pytest.skip("this user may not make control groups")


@pytest.fixture
def quiet_folder():
    """A file system on which no other test frees what this one takes.

    Hidden files show only as growth of the whole file system.
    """
    with closing_fd(os.open(SHARED_MEMORY, os.O_RDONLY)) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
            yield Path(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("kind_of_machine")
@pytest.mark.parametrize("code", MEMORY.values(), ids=MEMORY)
async def test_memory_counts_wherever_it_is_held(make_sandbox, code):
    sandbox = make_sandbox(Limits(memory_mb=150))
    words = ["python", "-c", HELPERS + code + WAIT]
    done = await sandbox.execute(words, timeout=60)
    assert done.killed == "memory", done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("kind_of_machine")
@pytest.mark.parametrize("code", DISK.values(), ids=DISK)
async def test_disk_counts_wherever_it_is_held(quiet_folder, agent_env, code):
    spec, limits = SandboxSpec(agent_env=agent_env), Limits(workspace_mb=50)
    with closing(open_sandbox(quiet_folder, spec, limits)) as sandbox:
        words = ["python", "-c", HELPERS + code + WAIT]
        done = await sandbox.execute(words, timeout=60)
    assert done.killed == "disk", done.stderr
