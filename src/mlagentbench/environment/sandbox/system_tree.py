"""The system that every sandbox shows: a copy of named programs and their libraries.

/usr of a host holds compilers, other languages and data sets, so that scores would
depend on the host. The copy holds the programs and libraries that are named here, the
libraries that they load, and the interpreter of the agents' environment without its
packages. Each file has the path that it has on the host.

The copy is made once for each state of the host. A sandbox sees no file of the host's
own system, so it can neither lock one nor learn who opens it.
"""

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath

from mlagentbench.core import build_folder, exclusive_lock
from mlagentbench.environment.sandbox.host import Interpreter, find_program

PROGRAMS = {
    "bash": "bash",
    "coreutils": "[ b2sum base32 base64 basename basenc cat chgrp chmod chown "
    "cksum comm cp csplit cut date dd df dir dirname du echo env expand expr factor "
    "false fmt fold groups head id install join link ln logname ls md5sum mkdir "
    "mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv "
    "printf ptx pwd readlink realpath rm rmdir seq sha1sum sha224sum sha256sum "
    "sha384sum sha512sum shred shuf sleep sort split stat stty sum sync tac tail "
    "tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink "
    "vdir wc whoami yes",
    "dash": "sh",
    "diffutils": "cmp diff",
    "findutils": "find xargs",
    "gawk": "awk",
    "grep": "egrep fgrep grep",
    "gzip": "gunzip gzip zcat",
    "sed": "sed",
    "tar": "tar",
    "util-linux": "prlimit setpriv setsid",
}
"""Programs by package; every distribution has them, so every sandbox has them."""

LIBRARIES = (
    *("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"),
    *("libutil.so.1", "libresolv.so.2", "libmvec.so.1", "libanl.so.1"),
    *("libnss_files.so.2", "libnss_dns.so.2", "libgcc_s.so.1", "libstdc++.so.6"),
    *("libatomic.so.1", "libgomp.so.1", "libz.so.1", "libexpat.so.1"),
)
"""Libraries that wheels expect of every system (manylinux), and those of glibc."""

_LOADERS = {
    "x86_64": Path("/lib64/ld-linux-x86-64.so.2"),
    "aarch64": Path("/lib/ld-linux-aarch64.so.1"),
}
"""Where every dynamic program of the architecture looks for its loader."""

_DATA = (
    "/usr/lib/locale/C.utf8",
    *(
        f"{folder}/terminfo/{entry[0]}/{entry}"
        for folder in ("/lib", "/usr/lib", "/usr/share")
        for entry in ("dumb", "linux", "screen", "vt100", "xterm", "xterm-256color")
    ),
)
"""Copied if the host has them; libraries have defaults built in."""

_PACKAGES = ("site-packages", "dist-packages")
"""Private to the host; the harness may be among them."""
_LEFT_OUT = {
    *(*_PACKAGES, "sitecustomize.py"),
    # Some distributions install these and some do not.
    *("ensurepip", "idlelib", "test", "tests", "tkinter", "turtledemo"),
}
_LEFT_OUT_PREFIXES = ("config-", "_tkinter.")

# A program that some distributions do not have.
_WHICH = """#!/bin/sh
missing=0
IFS=:
for name; do
    found=
    for folder in $PATH; do
        if [ -z "$found" ] && [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then
            found=$folder/$name
            echo "$found"
        fi
    done
    [ "$found" ] || missing=1
done
exit $missing
"""

_UNUSED_SECONDS = 30 * 24 * 3600
"""A copy is removed if no sandbox was opened with it for so long."""
_FORMAT = 1
"""Part of the digest: change it together with the contents of the copy."""


def system_programs() -> dict[str, str]:
    """Return the package of each program that a sandbox shows."""
    listed = ((package, names.split()) for package, names in PROGRAMS.items())
    return {name: package for package, names in listed for name in names}


def ensure_system_tree(
    interpreter: Interpreter, homes: Iterable[Path], private: Iterable[Path]
) -> Path:
    """Return the copy of this host's system, made first if need be.

    It is looked for in all of `homes` and made in the first that can be written. The
    files in `private` are left out.
    """
    name = _name(interpreter)
    homes = list(homes)
    for home in homes:
        if (home / name).is_dir():
            with contextlib.suppress(OSError):
                os.utime(home / name)
            return home / name
    home = next(filter(_is_writable, homes), homes[-1])
    with exclusive_lock(home / ".system.lock"):
        if not (home / name).is_dir():
            with build_folder(home / name, "system") as new:
                _Copy(new, private).fill(_find_programs(), interpreter)
            _remove_unused(home)
    return home / name


def _remove_unused(home: Path) -> None:
    """Remove copies of programs that have changed since, and of other interpreters."""
    for path in home.glob("system-*"):
        if time.time() - path.stat().st_mtime > _UNUSED_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _is_writable(home: Path) -> bool:
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    return os.access(home, os.W_OK)


def is_copied(path: Path, library: Path) -> bool:
    """Whether a path is in the part of a standard library that sandboxes see."""
    if not path.is_relative_to(library):
        return False
    return not set(_PACKAGES).intersection(path.relative_to(library).parts)


def show_system(tree: Path, mounted: Iterable[str]) -> list[str]:
    """Return bubblewrap's arguments that show a copy.

    A folder that will hold one of the paths in `mounted` is made, not bound, so that
    there can be a mount in it.
    """
    return [word for words in _show(tree, tree, list(mounted)) for word in words]


def _show(tree: Path, folder: Path, mounted: list[str]) -> Iterator[tuple[str, ...]]:
    for entry in sorted(folder.iterdir()):
        inside = PurePath("/") / entry.relative_to(tree)
        if entry.is_symlink():
            yield "--symlink", str(entry.readlink()), str(inside)
        elif any(PurePath(path).is_relative_to(inside) for path in mounted):
            yield "--perms", "0755", "--dir", str(inside)
            yield from _show(tree, entry, mounted)
        else:
            yield "--ro-bind", str(entry), str(inside)


def _find_programs() -> list[Path]:
    return [Path(find_program(name)) for name in system_programs()]


@cache
def _name(interpreter: Interpreter) -> str:
    """Return the name of the copy; a process uses the same one as long as it runs."""
    digest = hashlib.sha256(f"{_FORMAT} {LIBRARIES} {_DATA}\n".encode())
    files = (*_find_programs(), _LOADERS[platform.machine()])
    for path in (*files, *interpreter.executables, *interpreter.libraries):
        real = path.resolve()
        found = real.stat()
        # The time of a folder changes when a cache is written into it.
        state = "" if real.is_dir() else f"{found.st_size} {found.st_mtime_ns}"
        digest.update(f"{path} {real} {state}\n".encode())
    return f"system-{digest.hexdigest()[:12]}"


class _Copy:
    """A copy in the making."""

    def __init__(self, root: Path, private: Iterable[Path]) -> None:
        """Copy into the empty folder `root`."""
        self._root = root
        self._private = set(private)
        self._loader = _LOADERS[platform.machine()]

    def fill(self, programs: list[Path], interpreter: Interpreter) -> None:
        self._add_links(Path("/bin"))
        self._add(self._loader)
        self._add_libraries(programs[0], preload=LIBRARIES)
        for program in (*programs, *interpreter.executables):
            self._add(program)
            self._add_libraries(program)
        for library in interpreter.libraries:
            self._add(library)
            for extension in self._at(library.resolve()).rglob("*.so"):
                self._add_libraries(Path("/") / extension.relative_to(self._root))
        for data in map(Path, _DATA):
            if data.exists():
                self._add(data)
        self._add_which(programs[0].parent)
        for folder, _, _ in os.walk(self._root):
            Path(folder).chmod(0o755)

    def _add(self, path: Path) -> None:
        """Copy a file or folder, with the links that lead to it."""
        real = path.resolve()
        self._add_links(path)
        if not self._at(real).exists():
            self._at(real).parent.mkdir(parents=True, exist_ok=True)
            if real.is_dir():
                shutil.copytree(
                    real,
                    self._at(real),
                    ignore=self._left_out,
                    copy_function=_copy_file,
                )
                for packages in _PACKAGES:
                    if (real / packages).is_dir():
                        (self._at(real) / packages).mkdir()
            else:
                _copy_file(real, self._at(real))

    def _add_links(self, path: Path) -> None:
        for link in (path, *path.parents):
            here, there = link.parent.resolve() / link.name, link.resolve()
            if here != there and not os.path.lexists(self._at(here)):
                self._at(here).parent.mkdir(parents=True, exist_ok=True)
                self._at(here).symlink_to(there)

    def _add_libraries(self, program: Path, preload: Iterable[str] = ()) -> None:
        names = " ".join(preload)
        listing = [str(self._loader), "--preload", names, "--list", str(program)]
        # A script has no libraries, and one that is missing is not for a sandbox.
        listed = subprocess.run(listing, check=False, capture_output=True, text=True)
        found = re.findall(r"^\t(\S+) => (/.+) \(0x", listed.stdout, re.MULTILINE)
        libraries = {name: Path(path) for name, path in found}
        for path in libraries.values():
            self._add(path)
        # The loader searches this folder, and others only if a cache lists them.
        if (libc := libraries.get("libc.so.6")) is not None:
            for name, path in libraries.items():
                place = self._at(libc.parent.resolve() / name)
                if not os.path.lexists(place):
                    place.symlink_to(path)

    def _add_which(self, folder: Path) -> None:
        which = self._at(folder.resolve() / "which")
        which.write_text(_WHICH)
        which.chmod(0o755)

    def _at(self, path: Path) -> Path:
        return self._root / path.relative_to("/")

    def _left_out(self, folder: str, names: list[str]) -> set[str]:
        paths = {name: Path(folder) / name for name in names}
        return {
            name
            for name, path in paths.items()
            if name in _LEFT_OUT
            or name.startswith(_LEFT_OUT_PREFIXES)
            or ".opt-" in name
            or path.is_symlink()
            or not (path.is_dir() or path.is_file())
            or path in self._private
        }


def _copy_file(source: str | Path, target: str | Path) -> None:
    shutil.copyfile(source, target)
    # Compiled files name the time of their source.
    shutil.copystat(source, target)
    executable = Path(source).stat().st_mode & 0o100
    Path(target).chmod(0o755 if executable else 0o644)
