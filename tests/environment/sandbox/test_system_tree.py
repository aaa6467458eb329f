"""The system that a sandbox shows: the same named programs on every host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.redteam.ordinary import VERSION, copy_interpreter

from mlagentbench.environment.sandbox.host import find_interpreter
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.environment.sandbox.system_tree import (
    ensure_system_tree,
    system_programs,
)

pytestmark = pytest.mark.anyio

FOREIGN = (
    *(
        "cc",
        "gcc",
        "g++",
        "c++",
        "clang",
        "tcc",
        "ld",
        "as",
        "make",
        "cmake",
        "gfortran",
    ),
    *("rustc", "cargo", "go", "java", "node", "perl", "ruby", "R", "Rscript", "julia"),
    *("octave", "lua", "php", "sqlite3", "duckdb", "git", "curl", "wget", "ssh"),
    *("apt", "dpkg", "dnf", "rpm", "pip", "conda", "gdb", "strace"),
)

WALK = """
import json, os
seen = {}
for top in ("/usr", "/etc", "/lib", "/lib64"):
    for folder, folders, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            seen[path] = os.lstat(path).st_size
print(json.dumps(seen))
"""


async def output_of(sandbox, *command: str) -> str:
    done = await sandbox.execute(command, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


async def test_a_sandbox_shows_the_named_programs_and_no_other(make_sandbox):
    sandbox = make_sandbox(Limits(output_kb=16 * 1024))
    seen = json.loads(await output_of(sandbox, "python", "-c", WALK))
    programs = {Path(path).name for path in seen if "/bin/" in path}
    # Behind some names is a program of another name.
    behind = {"bash", "busybox", "coreutils", "dash", "gawk", "mawk", "original-awk"}
    assert set(system_programs()) <= programs
    assert programs <= {*system_programs(), "which", "python3", VERSION} | behind
    rest = {path for path in seen if "/bin/" not in path}
    assert not [path for path in rest if not is_library_or_data(path)]
    assert {path for path in rest if path.startswith("/etc/")} == {
        "/etc/passwd",
        "/etc/group",
        "/etc/hosts",
    }


def is_library_or_data(path: str) -> bool:
    library = ".so" in Path(path).name or f"/{VERSION}/" in path
    data = path.startswith("/etc/") or "/locale/C.utf8/" in path or "/terminfo/" in path
    return library or data


async def test_no_compiler_and_no_other_language_is_found(make_sandbox):
    script = 'for name in "$@"; do command -v "$name"; done; true'
    found = await output_of(make_sandbox(), "sh", "-c", script, "sh", *FOREIGN)
    assert found == ""


async def test_programs_and_the_standard_library_work(make_sandbox):
    sandbox = make_sandbox()
    code = """
import bz2, ctypes, curses, hashlib, lzma, readline, sqlite3, ssl, uuid, zlib, locale
import decimal, encodings.idna, multiprocessing, unittest, venv, zoneinfo
print(locale.setlocale(locale.LC_ALL, ""), zoneinfo.ZoneInfo("Europe/Berlin"))
curses.setupterm("xterm")
"""
    assert await output_of(sandbox, "python", "-c", code) == "C.UTF-8 Europe/Berlin\n"
    script = """
    seq 3 | awk '{ s += $1 } END { print s }' && echo abc | sed s/b/x/ | grep -o x
    mkdir -p a && echo 1 > a/f && tar czf a.tgz a && tar tzf a.tgz | sort -r | head -1
    find a -type f | xargs cat && ! diff a/f a.tgz > /dev/null && zcat a.tgz | wc -l
    which python echo && ! which nothing && date +%Z && timeout 5 true
    stat -c %s a/f && shuf -e 1
    """
    lines = (await output_of(sandbox, "bash", "-c", script)).split()
    assert lines[:4] == ["6", "x", "a/f", "1"]
    assert lines[5:7] == ["/opt/agent-env/bin/python", "/usr/bin/echo"]
    assert lines[7:] == ["UTC", "2", "1"]


async def test_no_file_of_the_hosts_own_system_is_shown(make_sandbox):
    paths = ("/usr/bin/env", "/usr/bin/ls", str(Path(sys.executable).resolve()))
    listed = await output_of(make_sandbox(), "stat", "-L", "-c", "%d:%i", *paths)
    for path, inside in zip(paths, listed.split(), strict=True):
        on_host = Path(path).stat()
        assert inside != f"{on_host.st_dev}:{on_host.st_ino}"


async def test_mounts_name_no_folder_of_the_hosts_system(make_sandbox):
    mounts = await output_of(make_sandbox(), "cat", "/proc/self/mountinfo")
    sources = [line.split()[3] for line in mounts.splitlines()]
    assert any("/system-" in source for source in sources)
    assert not [
        source for source in sources if source.startswith(("/usr", sys.base_prefix))
    ]


async def test_a_sandbox_has_ipc_of_its_own(make_sandbox):
    inside = await output_of(make_sandbox(), "readlink", "/proc/self/ns/ipc")
    assert inside.strip() != str(Path("/proc/self/ns/ipc").readlink())


async def test_files_cannot_be_watched_for_the_use_by_others(make_sandbox):
    code = """
import ctypes, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.inotify_init(), libc.inotify_init1(0), libc.fanotify_init(0, 0))
folder = os.open("/usr/bin", os.O_RDONLY)
for command in (fcntl.F_NOTIFY, fcntl.F_SETLEASE):
    try:
        fcntl.fcntl(folder, command, 1)
        print("watching")
    except PermissionError:
        print("refused")
"""
    watching = await output_of(make_sandbox(), "python", "-c", code)
    assert watching == "-1 -1 -1\nrefused\nrefused\n"


async def test_disk_cannot_be_allocated_by_a_command_to_a_file(make_sandbox):
    code = """
import fcntl, os, struct
file = os.open("reserved", os.O_RDWR | os.O_CREAT)
for command in (0x40305828, 0x4030582A, 0x40305839):
    try:
        fcntl.ioctl(file, command, struct.pack("=hhxxxxqqiI16x", 0, 0, 0, 2**26, 0, 0))
    except PermissionError:
        print("refused", os.fstat(file).st_blocks)
"""
    assert await output_of(make_sandbox(), "python", "-c", code) == "refused 0\n" * 3


def test_packages_and_links_out_of_the_interpreter_are_left_out(elsewhere):
    base, env = elsewhere / "base", elsewhere / "env"
    executable = copy_interpreter(base)
    library = base / "lib" / VERSION
    (library / "site-packages" / "other").mkdir(parents=True)
    (library / "private").mkdir()
    (library / "private" / "labels.csv").touch()
    (library / "link.py").symlink_to("/etc/passwd")
    (elsewhere / "alias").symlink_to(base)
    alias = elsewhere / "alias" / executable.relative_to(base)
    subprocess.run([alias, "-m", "venv", "--without-pip", env], check=True)
    interpreter = find_interpreter(env)
    unused, recent = elsewhere / "system-unused", elsewhere / "system-recent"
    for folder in (unused, recent):
        (folder / "usr").mkdir(parents=True)
    os.utime(unused, (0, 0))
    tree = ensure_system_tree(interpreter, [elsewhere], [library / "private"])
    copied = tree / library.relative_to("/")
    assert (copied / "os.py").read_bytes() == (library / "os.py").read_bytes()
    assert list((copied / "site-packages").iterdir()) == []
    assert not (copied / "private").exists()
    assert not (copied / "link.py").is_symlink()
    assert (tree / alias.relative_to("/")).parent.parent.is_symlink()
    assert (unused.exists(), recent.exists()) == (False, True)
    assert ensure_system_tree(interpreter, [elsewhere], []) == tree
