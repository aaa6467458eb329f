"""The bubblewrap command line and the file tree it shows.

From the outside in: bubblewrap with the file tree, the first process with the resource
limits, the system-call filter and the start mark, drop to the sandbox's user, change
folder and variables, run. Nothing is interpolated: every value is a separate argument.

The system (`system_tree`) and the agent's environment are read-only. The workspace and
/tmp can be written. Nothing else of the host exists.

Private are the harness, its environment and its project folder, the home folder and the
folders of all sandboxes. Data must not be in a folder that is copied into the system,
because its neighbours would be seen too.
"""

import contextlib
import marshal
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import MAGIC_NUMBER, find_spec
from pathlib import Path, PurePath
from typing import NamedTuple

from mlagentbench.core import MachineError, default_cache
from mlagentbench.environment.sandbox.host import (
    Interpreter,
    as_root,
    find_interpreter,
    find_program,
    processes_are_counted,
)
from mlagentbench.environment.sandbox.sandbox_folder import SandboxFolder
from mlagentbench.environment.sandbox.sandbox_spec import (
    AGENT_ENV,
    TMP,
    WORKSPACE,
    Limits,
    SandboxSpec,
)
from mlagentbench.environment.sandbox.system_tree import (
    ensure_system_tree,
    is_copied,
    show_system,
)

START_MARK = b"\0"
"""Comes on standard error before anything that the command itself can print."""

_FIRST_PROCESS = Path(__file__).with_name("first_process.py")
_UID_INSIDE = 1000


def uid_inside(slot_uid: int) -> int:
    return slot_uid if as_root() else _UID_INSIDE


@cache
def first_process() -> bytes:
    """Return the program of the first process, compiled: that takes 3 ms."""
    code = compile(_FIRST_PROCESS.read_bytes(), "first_process", "exec", optimize=2)
    return MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


class BwrapDescriptors(NamedTuple):
    """Descriptors that bubblewrap inherits beside the standard ones."""

    seccomp: int
    """The system-call filter, which the first process reads."""
    status: int
    """Where bubblewrap writes its reports."""
    gate: int
    """Read before the command starts, so that it waits for `Process.release`."""
    program: int
    """The program of the first process, which has no path inside."""
    channel: int
    """A socket for the descriptors that the first process sends."""


class BwrapCommand:
    """The command line around every command of one sandbox."""

    def __init__(
        self,
        tree: Sequence[str],
        limits: Limits,
        *,
        uid: int,
        python: str = f"{AGENT_ENV}/bin/python",
    ) -> None:
        """Look up the programs once; `tree` comes from `file_tree`.

        `python` is the interpreter of the first process, as a path inside.
        """
        namespaces = _ROOT_NAMESPACES if as_root() else _USER_NAMESPACES
        self._isolated = [find_program("bwrap"), *_ISOLATED, *namespaces, *tree]
        self._first = [python, "-I", "-S"]
        self._limits = {
            True: _listed(limits, limits.file_mb),
            False: _listed(limits, 0),
        }
        self._dropped = _unprivileged(uid)

    def arguments(
        self,
        words: Sequence[str],
        descriptors: BwrapDescriptors,
        *,
        may_write: bool = True,
    ) -> list[str]:
        """Return the complete command line around `words`."""
        seccomp, status, gate, program, channel = map(str, descriptors)
        return [
            *self._isolated,
            *("--block-fd", gate),
            *("--json-status-fd", status, "--chdir", WORKSPACE, "--as-pid-1", "--"),
            *(*self._first, f"/proc/self/fd/{program}"),
            *(channel, seccomp, self._limits[may_write]),
            *self._dropped,
            *words,
        ]


def with_cwd_and_variables(
    words: Sequence[str], cwd: str, variables: Mapping[str, str]
) -> list[str]:
    """Return `words` run in another folder and with more variables."""
    # Variables may steer the loader, so none may be set in a privileged layer.
    if cwd == WORKSPACE and not variables:
        return list(words)
    settings = [f"{name}={value}" for name, value in variables.items()]
    return [find_program("env"), f"--chdir={cwd}", *settings, *words]


_ISOLATED = ("--die-with-parent", "--new-session", "--hostname", "sandbox")
_ROOT_NAMESPACES = (
    *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
    "--unshare-cgroup-try",
    # Only the capabilities that setpriv needs to drop to the slot's user.
    *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID"),
    *("--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"),
)
_USER_NAMESPACES = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
    *("--uid", str(_UID_INSIDE), "--gid", str(_UID_INSIDE)),
)


_LOCKED_BYTES = 64 * 1024
_PENDING_SIGNALS = 1024


def _listed(limits: Limits, file_mb: int) -> str:
    """Return the limits as the first process reads them."""
    # Windows has no such module, and commands that only read must start there.
    import resource

    values = {
        # A value of 0 would still start the program that a host dumps cores to.
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_FSIZE: file_mb * 2**20,
        resource.RLIMIT_NOFILE: limits.open_files,
        # The next three are counted for the host user too.
        resource.RLIMIT_MEMLOCK: _LOCKED_BYTES,
        resource.RLIMIT_SIGPENDING: _PENDING_SIGNALS,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if processes_are_counted():
        # Set inside, because a user namespace counts its own processes only.
        values[resource.RLIMIT_NPROC] = limits.processes
    return ",".join(f"{kind}={_lowered(kind, value)}" for kind, value in values.items())


def _lowered(kind: int, wanted: int) -> int:
    """Return a limit that a process without rights can set."""
    import resource

    ceiling = resource.getrlimit(kind)[1]
    return wanted if ceiling == resource.RLIM_INFINITY else min(wanted, ceiling)


def _unprivileged(uid: int) -> list[str]:
    if not as_root():
        return []
    return [
        find_program("setpriv"),
        *(f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"),
        *("--inh-caps=-all", "--bounding-set=-all", "--"),
    ]


def file_tree(spec: SandboxSpec, folder: SandboxFolder, limits: Limits) -> list[str]:
    """Return the arguments that build the whole tree and set the environment."""
    interpreter = _checked_interpreter(spec.agent_env)
    sandboxes = folder.folder.parent
    private = _private_paths(sandboxes)
    _refuse_exposed(spec, interpreter, private)
    # The environment may be in a cache of another user.
    own = default_cache() / "agent-env"
    homes = (spec.agent_env.parent, own, sandboxes.parent)
    system = ensure_system_tree(interpreter, homes, private)
    outside = [
        mount.target
        for mount in spec.mounts
        if not PurePath(mount.target).is_relative_to(WORKSPACE)
    ]
    shared_memory = str(limits.memory_mb * 2**20 // 2)
    arguments = [
        *show_system(system, (AGENT_ENV, *outside)),
        *_parents(Path(AGENT_ENV)),
        *("--ro-bind", str(spec.agent_env), AGENT_ENV),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", shared_memory, "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/dev", "--ro-bind", str(folder.etc), "/etc"),
        *("--bind", str(folder.workspace), WORKSPACE, "--bind", str(folder.tmp), TMP),
    ]
    for mount in spec.mounts:
        if mount.target in outside:
            arguments += _parents(Path(mount.target))
        arguments += ["--ro-bind", str(mount.source), mount.target]
    arguments += ["--remount-ro", "/", "--clearenv"]
    for name, value in sorted(spec.variables.items()):
        arguments += ["--setenv", name, value]
    return arguments


def _checked_interpreter(agent_env: Path) -> Interpreter:
    interpreter = find_interpreter(agent_env)
    for path in (*interpreter.executables, *interpreter.libraries):
        if path.is_relative_to(TMP) or path.is_relative_to(WORKSPACE):
            raise MachineError(f"{path} is hidden in a sandbox; move Python elsewhere")
    return interpreter


def _refuse_exposed(
    spec: SandboxSpec, interpreter: Interpreter, private: Sequence[Path]
) -> None:
    """Refuse sources whose neighbours would be seen or that hold private files."""
    sources = [mount.source.resolve() for mount in spec.mounts]
    for source in sources:
        if any(path.is_relative_to(source) for path in private):
            raise MachineError(f"{source} holds files no sandbox may see")
    for library in interpreter.libraries:
        for source in (spec.agent_env.resolve(), *sources):
            if is_copied(source, library.resolve()):
                raise MachineError(
                    f"{source} lies where every sandbox can read; move the cache "
                    f"out of {library}"
                )


def _parents(path: Path) -> list[str]:
    # bubblewrap would give them the modes they have on the host, often 0700.
    parents = [str(parent) for parent in reversed(path.parents) if parent.name]
    return [word for parent in parents for word in ("--perms", "0755", "--dir", parent)]


_PROJECT_MARKS = ("pyproject.toml", ".git")


def _private_paths(sandboxes: Path) -> list[Path]:
    paths = [*_own_folders(), sandboxes]
    # A user without an entry in the list of users has no home.
    with contextlib.suppress(RuntimeError):
        paths.append(Path.home())
    if sys.prefix != sys.base_prefix:
        paths.append(Path(sys.prefix))
    return [path.resolve() for path in paths]


def _own_folders() -> Iterator[Path]:
    spec = find_spec(__name__.partition(".")[0])
    for location in (spec.submodule_search_locations or ()) if spec else ():
        package = Path(location)
        yield package
        # An editable install: tests and history beside it are private too.
        for parent in package.parents:
            if any((parent / mark).exists() for mark in _PROJECT_MARKS):
                yield parent
                break
