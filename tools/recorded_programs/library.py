"""The system calls behind Python's standard library, each through its public name."""

# The functions of `os` are the subject, and their tables are not wrapped.
# ruff: noqa: PTH109, PTH123, E501

import asyncio
import concurrent.futures
import contextlib
import ctypes
import fcntl
import http.client
import http.server
import mmap
import multiprocessing
import multiprocessing.shared_memory
import os
import resource
import select
import selectors
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def main() -> None:
    for work in (files, links, processes, sockets, memory, clocks, pools, database):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            work()
            os.chdir("/")


def attempt(
    function: Callable[..., T], *arguments: object, **options: object
) -> T | None:
    with contextlib.suppress(OSError, AttributeError, ValueError):
        return function(*arguments, **options)
    return None


def files() -> None:
    with open("a", "w+b") as a, open("b", "w+b") as b:
        a.write(b"x" * 100_000)
        a.flush()
        for function, arguments in (
            (os.fsync, (a,)),
            (os.fdatasync, (a,)),
            (os.pread, (a.fileno(), 5, 0)),
            (os.pwrite, (a.fileno(), b"y", 0)),
            (os.ftruncate, (a.fileno(), 50_000)),
            (os.preadv, (a.fileno(), [bytearray(5)], 0)),
            (os.pwritev, (a.fileno(), [b"z"], 0)),
            (os.preadv, (a.fileno(), [bytearray(5)], 0, 8)),
            (os.pwritev, (a.fileno(), [b"z"], 0, 2)),
            (os.readv, (a.fileno(), [bytearray(5)])),
            (os.writev, (a.fileno(), [b"z"])),
            (os.sendfile, (b.fileno(), a.fileno(), 0, 100)),
            (os.copy_file_range, (a.fileno(), b.fileno(), 100)),
            (os.posix_fadvise, (a.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)),
            (os.posix_fallocate, (a.fileno(), 0, 100)),
            (os.fstatvfs, (a.fileno(),)),
            (os.lseek, (a.fileno(), 0, os.SEEK_END)),
            (os.dup, (a.fileno(),)),
            (os.dup2, (a.fileno(), 50)),
            (os.set_blocking, (a.fileno(), False)),
            (os.fchmod, (a.fileno(), 0o600)),
            (os.fchown, (a.fileno(), os.getuid(), os.getgid())),
            (fcntl.flock, (a, fcntl.LOCK_EX)),
            (fcntl.lockf, (b, fcntl.LOCK_EX)),
        ):
            attempt(function, *arguments)
    os.closerange(40, 60)
    read, write = os.pipe()
    with open("a", "rb") as a:
        attempt(os.splice, a.fileno(), write, 100, offset_src=0)
    os.close(read)
    os.close(write)
    copy = f"{os.getcwd()}-copy"
    shutil.copytree(".", copy)
    shutil.rmtree(copy)
    shutil.make_archive("archive", "gztar", ".", "a")
    shutil.disk_usage(".")


def links() -> None:
    open("a", "w").close()
    here = os.open(".", os.O_RDONLY)
    for function, arguments, options in (
        (os.link, ("a", "b"), {}), (os.symlink, ("a", "c"), {}),
        (os.readlink, ("c",), {}), (os.rename, ("b", "d"), {}), (os.mkdir, ("e",), {}),
        (os.link, ("a", "b"), {"src_dir_fd": here}),
        (os.symlink, ("a", "f"), {"dir_fd": here}), (os.mkdir, ("g",), {"dir_fd": here}),
        (os.rename, ("f", "h"), {"src_dir_fd": here, "dst_dir_fd": here}),
        (os.unlink, ("h",), {"dir_fd": here}), (os.rmdir, ("g",), {"dir_fd": here}),
        (os.replace, ("d", "b"), {}), (os.removedirs, ("e",), {}),
        (os.chmod, ("a", 0o600), {}), (os.chmod, ("a", 0o600), {"dir_fd": here}),
        (os.chown, ("a", os.getuid(), os.getgid()), {}),
        (os.lchown, ("c", os.getuid(), os.getgid()), {}),
        (os.access, ("a", os.R_OK), {}),
        (os.access, ("a", os.R_OK), {"effective_ids": True}), (os.truncate, ("a", 5), {}),
        (os.utime, ("a", (1, 1)), {}), (os.utime, (here,), {}), (os.statvfs, (".",), {}),
        (os.mkfifo, ("p",), {}), (os.mkfifo, ("q",), {"dir_fd": here}),
        (os.setxattr, ("a", "user.x", b"1"), {}), (os.getxattr, ("a", "user.x"), {}),
        (os.listxattr, ("a",), {}), (os.removexattr, ("a", "user.x"), {}),
        (os.listxattr, ("c",), {"follow_symlinks": False}),
        (os.getxattr, ("c", "user.x"), {"follow_symlinks": False}),
        (os.listxattr, (here,), {}), (os.getxattr, (here, "user.x"), {}),
        (os.setxattr, (here, "user.x", b"1"), {}), (os.removexattr, (here, "user.x"), {}),
        (os.listdir, (here,), {}), (os.chdir, (here,), {}), (os.sync, (), {}),
        (os.umask, (0o022,), {}), (os.stat, ("a",), {}), (os.lstat, ("c",), {}),
    ):  # fmt: skip
        attempt(function, *arguments, **options)


def processes() -> None:
    subprocess.run(["true"], check=True)
    subprocess.run(["sh", "-c", "echo hello | cat"], check=True)
    subprocess.run(["true"], check=True, start_new_session=True, close_fds=False)
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    for exits in (os.fork, getattr(os, "forkpty", os.fork)):
        child = attempt(exits)
        child = child[0] if isinstance(child, tuple) else child
        if child == 0:
            os._exit(0)
        if child:
            os.wait4(child, 0)
    sleeper = subprocess.Popen(["sleep", "5"])
    pidfd = attempt(os.pidfd_open, sleeper.pid)
    if pidfd is not None:
        attempt(signal.pidfd_send_signal, pidfd, signal.SIGCONT)
    os.kill(sleeper.pid, signal.SIGTERM)
    attempt(os.waitid, os.P_PID, sleeper.pid, os.WEXITED | os.WNOHANG)
    sleeper.wait()
    for function, arguments in (
        (os.getpgid, (0,)), (os.setpgid, (0, 0)), (os.getsid, (0,)), (os.getpgrp, ()),
        (os.nice, (0,)), (os.getpriority, (0, 0)), (os.setpriority, (0, 0, 0)),
        (os.sched_getaffinity, (0,)), (os.sched_getscheduler, (0,)),
        (os.sched_getparam, (0,)), (os.sched_get_priority_max, (0,)),
        (os.sched_get_priority_min, (0,)), (os.sched_rr_get_interval, (0,)),
        (os.sched_yield, ()), (os.times, ()), (os.getloadavg, ()), (os.getgroups, ()),
        (os.getresuid, ()), (os.getresgid, ()), (os.getlogin, ()), (os.uname, ()),
        (resource.getrlimit, (resource.RLIMIT_NOFILE,)), (resource.getrusage, (0,)),
        (resource.setrlimit, (resource.RLIMIT_CORE, (0, 0))), (os.cpu_count, ()),
        (os.getppid, ()), (os.getpid, ()), (os.urandom, (8,)), (os.getrandom, (8,)),
        (signal.setitimer, (signal.ITIMER_REAL, 0)), (signal.alarm, (0,)),
        (signal.getitimer, (signal.ITIMER_REAL,)),
        (signal.sigtimedwait, ([signal.SIGUSR1], 0.01)), (signal.sigpending, ()),
        (signal.pthread_kill, (threading.get_ident(), 0)), (os.openpty, ()),
        (os.eventfd, (0,)), (os.isatty, (0,)), (os.get_terminal_size, ()),
        (os.killpg, (os.getpgrp(), 0)), (os.ctermid, ()),
        (signal.siginterrupt, (signal.SIGUSR1, True)),
    ):  # fmt: skip
        attempt(function, *arguments)


def sockets() -> None:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        f"http://{address}"
    ).read()
    connection = http.client.HTTPConnection(address)
    connection.request("GET", "/")
    connection.getresponse().read()
    server.shutdown()
    socket.if_nameindex()
    attempt(socket.getaddrinfo, "localhost", 80)
    attempt(socket.gethostbyname, "nowhere.invalid")
    one, two = socket.socketpair()
    with one, two, open(__file__, "rb") as file:
        socket.send_fds(one, [b"x"], [0])
        socket.recv_fds(two, 10, 1)
        one.sendmsg([b"a"])
        two.recvmsg(10)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        one.sendfile(file)
        select.select([two], [], [], 0.1)
        for name in ("PollSelector", "EpollSelector", "SelectSelector"):
            with getattr(selectors, name)() as selector:
                selector.register(two, selectors.EVENT_READ)
                selector.select(0.01)
        one.shutdown(socket.SHUT_WR)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        datagrams.sendto(b"x", datagrams.getsockname())
        datagrams.recvfrom(10)

    async def talk() -> None:
        listening = await asyncio.start_unix_server(lambda _r, w: w.close(), "socket")
        await asyncio.open_unix_connection("socket")
        child = await asyncio.create_subprocess_exec("true")
        await child.wait()
        await asyncio.to_thread(time.sleep, 0.01)
        listening.close()

    asyncio.run(talk())


def memory() -> None:
    with open("a", "w+b") as a:
        a.truncate(2**20)
        with mmap.mmap(a.fileno(), 2**20) as mapped:
            mapped[:5] = b"hello"
            mapped.flush()
            attempt(mapped.madvise, mmap.MADV_DONTNEED)
            attempt(mapped.resize, 2**21)
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=1000)
    shared.close()
    shared.unlink()
    libc = ctypes.CDLL(None)
    block = ctypes.create_string_buffer(100_000)
    libc.mlock(block, 4096)
    libc.munlock(block, 4096)
    page = ctypes.c_void_p(ctypes.addressof(block) & ~4095)
    libc.mincore(page, 4096, ctypes.byref(block))
    sys.setswitchinterval(0.001)


def clocks() -> None:
    time.sleep(0.01)
    for clock in (time.CLOCK_MONOTONIC, time.CLOCK_PROCESS_CPUTIME_ID):
        time.clock_gettime(clock)
        time.clock_getres(clock)
    time.thread_time()
    time.pthread_getcpuclockid(threading.get_ident())
    event = threading.Event()
    event.wait(0.01)
    condition = threading.Condition()
    with condition:
        condition.wait(0.01)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.raise_signal(signal.SIGUSR1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [])


def square(x: int) -> int:
    return x * x


def pools() -> None:
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            pool.map(square, range(4))
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        list(executor.map(square, range(4)))
    with multiprocessing.Manager() as manager:
        manager.dict()["a"] = 1
    queue = multiprocessing.Queue()
    queue.put(1)
    queue.get()
    multiprocessing.Lock().acquire()


def database() -> None:
    for mode in ("delete", "wal", "memory"):
        with contextlib.closing(sqlite3.connect(f"{mode}.db")) as base:
            base.execute(f"pragma journal_mode={mode}")
            base.execute("create table t (x)")
            base.execute("insert into t values (1)")
            base.commit()


if __name__ == "__main__":
    main()
