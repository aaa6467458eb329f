"""The command line that puts a command into a sandbox, layer by layer.

From the outside in: pin the cores, bubblewrap with the file tree, say that it begins,
resource limits, drop to the sandbox's user, change folder and variables, run. Nothing
is ever interpolated: every value is an argument of its own.
"""

import resource
import shutil
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mlagentbench.core.errors import MachineError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.furnishing import WORKSPACE
from mlagentbench.environment.sandbox.kernel import as_root, processes_are_counted

SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"
BEGUN = b"\0"
"""What comes on standard error before anything the command itself can say."""

# If the harness has died, nobody reads any more, and the command is not run: bubblewrap
# itself notices a death only once it has set up everything.
_BEGIN = 'printf "\\000" >&2 || exit 1; exec "$@"'
_UID_INSIDE = 1000


def tool(name: str, search: str = SYSTEM_PATH) -> str:
    """Return the absolute path of a program of the system."""
    found = shutil.which(name, path=search)
    if found is None:
        raise MachineError(f"{name} is not installed; install the package that has it")
    return found


def uid_inside(slot_uid: int) -> int:
    """Return the user id that commands see."""
    return slot_uid if as_root() else _UID_INSIDE


class Handed(NamedTuple):
    """The descriptors that bubblewrap gets beside the standard ones."""

    seccomp: int
    """To read the filter of system calls from."""
    status: int
    """To report on."""
    gate: int
    """To wait for, when everything is set up."""


class Launch:
    """The layers around every command of one sandbox."""

    def __init__(
        self, tree: Sequence[str], limits: Limits, *, uid: int, cores: Sequence[int]
    ) -> None:
        """Look up the programs once; `tree` is what `file_tree` returned."""
        self._pinned = _pinned(cores)
        self._isolated = [tool("bwrap"), *_namespaces(), *tree]
        begin = ["/bin/sh", "-c", _BEGIN, "sh"]
        self._inside = {
            may_write: [*begin, *_limited(limits, file_mb), *_unprivileged(uid)]
            for may_write, file_mb in ((True, limits.file_mb), (False, 0))
        }

    def arguments(
        self, words: Sequence[str], handed: Handed, *, may_write: bool = True
    ) -> list[str]:
        """Return the whole command line around `words`."""
        return [
            *self._pinned,
            *self._isolated,
            *("--seccomp", str(handed.seccomp), "--block-fd", str(handed.gate)),
            *("--json-status-fd", str(handed.status), "--chdir", WORKSPACE, "--"),
            *self._inside[may_write],
            *words,
        ]


def placed(words: Sequence[str], cwd: str, variables: Mapping[str, str]) -> list[str]:
    """Return `words` in another folder and with more variables."""
    # Variables may steer the loader, so none may be set in a privileged layer.
    if cwd == WORKSPACE and not variables:
        return list(words)
    settings = [f"{name}={value}" for name, value in variables.items()]
    return [tool("env"), f"--chdir={cwd}", *settings, *words]


def _pinned(cores: Sequence[int]) -> list[str]:
    return [tool("taskset"), "--cpu-list", ",".join(map(str, cores))]


def _namespaces() -> list[str]:
    common = ["--die-with-parent", "--new-session", "--hostname", "sandbox"]
    return [*common, *(_ROOT_NAMESPACES if as_root() else _USER_NAMESPACES)]


_ROOT_NAMESPACES = (
    *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
    "--unshare-cgroup-try",
    # What setpriv needs in order to drop to the slot's user, and nothing more.
    *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID"),
    *("--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"),
)
_USER_NAMESPACES = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
    *("--uid", str(_UID_INSIDE), "--gid", str(_UID_INSIDE)),
)


def _limited(limits: Limits, file_mb: int) -> list[str]:
    # Set inside, where a user namespace counts processes for itself alone.
    counted = processes_are_counted()
    return [
        tool("prlimit"),
        _rlimit("core", resource.RLIMIT_CORE, 0),
        _rlimit("fsize", resource.RLIMIT_FSIZE, file_mb * 2**20),
        _rlimit("nofile", resource.RLIMIT_NOFILE, limits.open_files),
        *([_rlimit("nproc", resource.RLIMIT_NPROC, limits.processes)] * counted),
        "--",
    ]


def _rlimit(name: str, kind: int, wanted: int) -> str:
    ceiling = resource.getrlimit(kind)[1]
    value = wanted if ceiling == resource.RLIM_INFINITY else min(wanted, ceiling)
    return f"--{name}={value}:{value}"


def _unprivileged(uid: int) -> list[str]:
    if not as_root():
        return []
    return [
        tool("setpriv"),
        *(f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"),
        *("--inh-caps=-all", "--bounding-set=-all", "--"),
    ]
