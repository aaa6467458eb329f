"""A probe of this machine's isolation, which really isolates a command."""

import os
import platform
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

from mlagentbench.core import MachineError, Record
from mlagentbench.environment.sandbox.bwrap import (
    BwrapCommand,
    BwrapDescriptors,
    first_process,
)
from mlagentbench.environment.sandbox.cgroups import (
    LimitsInForce,
    find_hierarchy,
    limits_in_force,
)
from mlagentbench.environment.sandbox.host import (
    SYSTEM_PATH,
    as_root,
    find_program,
    harness_interpreter,
    kernel_version,
    version_in,
)
from mlagentbench.environment.sandbox.sandbox_folder import FIRST_UID
from mlagentbench.environment.sandbox.sandbox_spec import WORKSPACE, Limits
from mlagentbench.environment.sandbox.seccomp import ARCHITECTURES, seccomp_filter
from mlagentbench.environment.sandbox.system_tree import system_programs

_OLDEST_BWRAP = (0, 8)
_OLDEST_KERNEL = (5, 6)
_PACKAGES = {
    "bwrap": "bubblewrap",
    "setpriv": "util-linux",
    **system_programs(),
}
_INSTALLERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
}
_SYSCTLS = Path("/proc/sys")


class _Switch(NamedTuple):
    name: str
    off: str
    on: str
    other: str = ""


_SWITCHES = (
    _Switch(
        name="kernel.apparmor_restrict_unprivileged_userns",
        off="1",
        on="0",
        other=", or give bwrap an AppArmor profile that says `userns,`",
    ),
    _Switch("kernel.unprivileged_userns_clone", off="0", on="1"),
    _Switch("user.max_user_namespaces", off="0", on="10000"),
)
_BARE_TREE = (
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"),
    *("--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64"),
    *("--proc", "/proc", "--dev", "/dev", "--dir", WORKSPACE),
)


class Isolation(Record):
    """The result of the probe."""

    ok: bool
    reason: str = ""
    """Why there is no isolation; empty if there is."""
    fix: str = ""
    """How to fix it."""
    mode: Literal["root", "user"] | None = None
    """Whose rights sandboxes are built with."""
    limits: LimitsInForce | None = None


def require_isolation() -> Isolation:
    """Return the result of the probe; raise if this machine cannot isolate."""
    found = probe()
    if not found.ok:
        raise MachineError(f"{found.reason}; {found.fix}")
    return found


def probe(*, system: str | None = None, search: str = SYSTEM_PATH) -> Isolation:
    """Isolate a command as every run does.

    `system` and `search` replace the machine's own name and program folders.
    """
    problem = (
        _check_system(system or platform.system())
        or _check_programs(search)
        or _check_versions(search)
        or _check_isolation()
    )
    return problem or Isolation(
        ok=True,
        mode="root" if as_root() else "user",
        limits=limits_in_force(find_hierarchy()),
    )


def _check_system(system: str) -> Isolation | None:
    if system != "Linux":
        return _not_isolated(
            f"runs need Linux for their sandbox, and this is {system}",
            "use a Linux machine, a virtual machine, or WSL 2 under Windows",
        )
    if (machine := platform.machine()) not in ARCHITECTURES:
        known = " or ".join(ARCHITECTURES)
        return _not_isolated(f"{machine} is not supported", f"use an {known} machine")
    return None


def _check_programs(search: str) -> Isolation | None:
    for program, package in _PACKAGES.items():
        if shutil.which(program, path=search) is None:
            known = (name for name in _INSTALLERS if shutil.which(name, path=search))
            installer = _INSTALLERS[next(known, "apt-get")]
            return _not_isolated(
                f"{program} is not installed, and the sandbox needs it",
                f"install it: `sudo {installer} {package}`",
            )
    return None


def _check_versions(search: str) -> Isolation | None:
    command = [find_program("bwrap", search), "--version"]
    output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    if version_in(output) < _OLDEST_BWRAP:
        return _not_isolated(
            f"{output.strip() or 'bwrap'} is too old",
            "install bubblewrap 0.8 or newer",
        )
    if kernel_version() < _OLDEST_KERNEL:
        return _not_isolated(
            f"Linux {platform.release()} is too old", "use Linux 5.6 or newer"
        )
    return None


def _check_isolation() -> Isolation | None:
    interpreter = harness_interpreter()
    bound = (*interpreter.libraries, *interpreter.executables)
    tree = [*_BARE_TREE]
    for path in map(str, bound):
        tree += ["--ro-bind", path, path]
    bwrap = BwrapCommand(
        tree,
        Limits(),
        uid=FIRST_UID,
        python=str(interpreter.executables[-1]),
    )
    ours, theirs = socket.socketpair()
    with (
        tempfile.TemporaryFile() as filter_,
        Path(os.devnull).open("r+b") as null,
        tempfile.TemporaryFile() as program,
        ours,
        theirs,
    ):
        filter_.write(seccomp_filter(platform.machine()))
        filter_.seek(0)
        program.write(first_process())
        program.flush()
        descriptors = BwrapDescriptors(
            seccomp=filter_.fileno(),
            status=null.fileno(),
            gate=null.fileno(),
            program=program.fileno(),
            channel=theirs.fileno(),
        )
        trial = subprocess.run(
            bwrap.arguments(["true"], descriptors),
            check=False,
            capture_output=True,
            cwd="/",
            env={},
            pass_fds=descriptors,
            text=True,
        )
    if trial.returncode == 0:
        return None
    return _explain_refusal(trial.stderr.strip(), _SYSCTLS)


def _explain_refusal(output: str, sysctls: Path) -> Isolation:
    reason = f"bubblewrap is installed but cannot isolate a process ({output})"
    if as_root():
        return _not_isolated(
            reason, "run as an ordinary user, or give this container CAP_SYS_ADMIN"
        )
    for switch in _SWITCHES:
        file = sysctls / switch.name.replace(".", "/")
        if file.exists() and file.read_text().strip() == switch.off:
            command = f"sudo sysctl -w {switch.name}={switch.on}"
            return _not_isolated(
                "user namespaces are switched off on this machine",
                f"allow them: `{command}`{switch.other}",
            )
    return _not_isolated(reason, "allow user namespaces for bubblewrap")


def _not_isolated(reason: str, fix: str) -> Isolation:
    return Isolation(ok=False, reason=reason, fix=fix)
