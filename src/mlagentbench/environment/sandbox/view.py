"""The file tree that a sandbox sees, as bubblewrap's arguments.

The system's programs, the agent's environment and its interpreter are there read-only;
the workspace and /tmp can be written; nothing else of the host exists. Whatever of the
harness, its data or the home folder lies inside something bound is covered.
"""

from collections.abc import Iterable
from pathlib import Path, PurePath

from mlagentbench.core.errors import MachineError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.furnishing import (
    AGENT_ENV,
    TMP,
    WORKSPACE,
    Furnishing,
)
from mlagentbench.environment.sandbox.interpreter import find_interpreter
from mlagentbench.environment.sandbox.private import (
    installed_packages,
    private_paths,
    within,
)
from mlagentbench.environment.sandbox.rooms import Room

_USR = Path("/usr")
_TOP_LEVEL = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")


def file_tree(furnishing: Furnishing, room: Room, limits: Limits) -> list[str]:
    """Return the arguments that build the whole tree and set the environment."""
    hidden = private_paths(room.folder.parent)
    _refuse_exposed_sources(furnishing, hidden)
    return [
        *_system(hidden),
        *_interpreter(furnishing.agent_env, hidden),
        *_parents(Path(AGENT_ENV)),
        *_read_only(furnishing.agent_env, AGENT_ENV),
        *_devices(limits),
        *_etc(room),
        *("--bind", str(room.workspace), WORKSPACE, "--bind", str(room.tmp), TMP),
        *_mounts(furnishing),
        *("--remount-ro", "/", "--clearenv"),
        *_variables(furnishing.variables),
    ]


def _system(hidden: Iterable[Path]) -> list[str]:
    packages = (*installed_packages(_USR), *installed_packages(_USR / "local"))
    arguments = [*_read_only(_USR, str(_USR)), *_covered(_USR, (*packages, *hidden))]
    for name in _TOP_LEVEL:
        folder = Path("/") / name
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += _read_only(folder, str(folder))
            arguments += _covered(folder, (*installed_packages(Path("/")), *hidden))
    return arguments


def _interpreter(agent_env: Path, hidden: Iterable[Path]) -> list[str]:
    interpreter = find_interpreter(agent_env)
    arguments = []
    for library in interpreter.libraries:
        if not library.is_relative_to(_USR):
            packages = installed_packages(library.parent)
            arguments += [*_parents(library), *_read_only(library, str(library))]
            arguments += _covered(library, (*packages, *hidden))
    for executable in interpreter.executables:
        if not executable.is_relative_to(_USR):
            arguments += _parents(executable)
            arguments += _read_only(executable, str(executable))
    return arguments


def _devices(limits: Limits) -> list[str]:
    shared = str(limits.memory_mb * 2**20 // 2)
    return [
        *("--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", shared, "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev"),
    ]


def _etc(room: Room) -> list[str]:
    arguments = _parents(Path("/etc/passwd"))
    for file in sorted(room.etc.iterdir()):
        arguments += _read_only(file, f"/etc/{file.name}")
    for name in _ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return arguments


def _mounts(furnishing: Furnishing) -> list[str]:
    arguments = []
    for mount in furnishing.mounts:
        if not PurePath(mount.target).is_relative_to(WORKSPACE):
            arguments += _parents(Path(mount.target))
        arguments += _read_only(mount.source, mount.target)
    return arguments


def _variables(variables: dict[str, str]) -> list[str]:
    return [
        argument
        for name, value in sorted(variables.items())
        for argument in ("--setenv", name, value)
    ]


def _read_only(source: Path, target: str) -> list[str]:
    return ["--ro-bind", str(source), target]


def _parents(path: Path) -> list[str]:
    # bubblewrap would give them the modes they have on the host, often 0700.
    parents = [str(parent) for parent in reversed(path.parents) if parent.name]
    return [word for parent in parents for word in ("--perms", "0755", "--dir", parent)]


def _covered(bound: Path, paths: Iterable[Path]) -> list[str]:
    return [
        word
        for path in _outermost(within(bound, paths))
        for cover in (str(bound / path.relative_to(bound.resolve())),)
        for word in ("--tmpfs", cover, "--remount-ro", cover)
    ]


def _outermost(paths: Iterable[Path]) -> list[Path]:
    outermost: list[Path] = []
    for path in sorted(paths):
        if not any(path.is_relative_to(other) for other in outermost):
            outermost.append(path)
    return outermost


def _refuse_exposed_sources(furnishing: Furnishing, hidden: Iterable[Path]) -> None:
    for mount in furnishing.mounts:
        if within(mount.source, hidden):
            raise MachineError(f"{mount.source} holds files no sandbox may see")
