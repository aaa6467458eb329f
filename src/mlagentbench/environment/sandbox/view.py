"""The file tree that a sandbox sees, as bubblewrap's arguments.

The system's programs, the agent's environment and its interpreter are there read-only;
the workspace and /tmp can be written; nothing else of the host exists. Whatever of the
harness, its data or the home folder lies inside something bound is covered.
"""

from pathlib import Path, PurePath

from mlagentbench.core.errors import MachineError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.cover import Cover
from mlagentbench.environment.sandbox.furnishing import (
    AGENT_ENV,
    TMP,
    WORKSPACE,
    Furnishing,
)
from mlagentbench.environment.sandbox.interpreter import find_interpreter
from mlagentbench.environment.sandbox.rooms import RoomFolder
from mlagentbench.environment.sandbox.staging import ALTERNATIVES

_USR = Path("/usr")
_TOP_LEVEL = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def file_tree(furnishing: Furnishing, room: RoomFolder, limits: Limits) -> list[str]:
    """Return the arguments that build the whole tree and set the environment."""
    cover = Cover(room)
    programs = [*_system(cover), *_interpreter(furnishing.agent_env, cover)]
    cover.refuse_exposed(furnishing)
    return [
        *programs,
        *_parents(Path(AGENT_ENV)),
        *_read_only(furnishing.agent_env, AGENT_ENV),
        *_devices(limits),
        *_read_only(room.etc, "/etc"),
        *("--ro-bind-try", str(ALTERNATIVES), str(ALTERNATIVES)),
        *("--bind", str(room.workspace), WORKSPACE, "--bind", str(room.tmp), TMP),
        *_mounts(furnishing),
        *("--remount-ro", "/", "--clearenv"),
        *_variables(furnishing.variables),
    ]


def _system(cover: Cover) -> list[str]:
    arguments = cover.shown(_USR)
    for name in _TOP_LEVEL:
        folder = Path("/") / name
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += cover.shown(folder)
    return arguments


def _interpreter(agent_env: Path, cover: Cover) -> list[str]:
    interpreter = find_interpreter(agent_env)
    for path in (*interpreter.executables, *interpreter.libraries):
        if path.is_relative_to(TMP) or path.is_relative_to(WORKSPACE):
            raise MachineError(f"{path} is hidden in a sandbox; move Python elsewhere")
    arguments = []
    for library in interpreter.libraries:
        if not library.resolve().is_relative_to(_USR):
            arguments += [*_parents(library), *cover.shown(library)]
    for executable in interpreter.executables:
        if not executable.parent.resolve().is_relative_to(_USR):
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
