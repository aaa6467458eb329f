"""Doctor, a starter run and attacks on other kinds of machine: `make machines`.

    python tools/machines.py [build | KIND ...]

An ordinary user of this host, and a virtual machine with systemd and cgroup v2: a plain
login, a user scope, and no user namespaces for users. Building the image is not counted
in the 30 minutes. Prints a table; with all kinds it is written to docs/machines.md.
Exits 1 if an attack succeeded or a kind could not be judged.

The image is Debian by mmdebstrap, made into a file system without a mount. QEMU needs
no KVM. Nothing that one boot writes is seen by the next.
"""

import argparse
import contextlib
import fcntl
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from tests.redteam.attempt import Result  # noqa: E402
from tests.redteam.ordinary import (  # noqa: E402
    UID,
    copy_cache,
    environments,
    ordinary_command,
)
from tests.redteam.table import ELSEWHERE, attacks_here  # noqa: E402

from mlagentbench.core.cache import default_cache  # noqa: E402

PAGE = PROJECT / "docs" / "machines.md"
MAX_MINUTES = 30
_BOOT_SECONDS = 300
_HOME = Path(os.environ.get("MLAB_MACHINES", default_cache() / "machines"))
_INSIDE = Path("/srv/job")
"""Where the project is in the virtual machine."""
_PYTHON = "/usr/bin/python3"
"""Of Debian, on both sides: the environment is made here and used there."""
_PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "dbus", "dbus-user-session", "libpam-systemd"),
    *("openssh-server", "bubblewrap", "python3", "uidmap", "iproute2", "procps"),
    *("linux-image-cloud-amd64", "kmod", "busybox-static"),
)
_UNWANTED = (
    *("systemd-networkd-wait-online.service", "apt-daily.timer", "fstrim.timer"),
    *("apt-daily-upgrade.timer", "e2scrub_all.timer", "e2scrub_reap.service"),
    *("dpkg-db-backup.timer", "getty@tty1.service"),
)
_EXT4 = ("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0")
_DISK = "24G"
"""Sparse: doctor wants 5 GB, and the attacks need some."""

Run = Callable[[str, float], "subprocess.CompletedProcess[str]"]
"""Runs a command line of the shell on a machine, for at most so many seconds."""


@dataclass
class Kind:
    """One kind of machine and user, and what is known about it."""

    name: str
    doctor: dict[str, str] = field(default_factory=dict)
    starter: str = "not run"
    results: list[Result] = field(default_factory=list)
    minutes: float = 0.0
    note: str = ""

    def verdicts(self, word: str) -> list[str]:
        """Return the attacks with one verdict."""
        return [one.attack for one in self.results if one.in_sandbox.verdict == word]


def main() -> int:
    """Build what is missing, then look at every kind of machine."""
    asked = _arguments()
    build()
    if asked.words == ["build"]:
        return 0
    kinds = [Kind(name) for name in NAMES if not asked.words or name in asked.words]
    ends = time.monotonic() + 60 * MAX_MINUTES
    on_host = [kind for kind in kinds if kind.name.startswith("host")]
    in_vm = [kind for kind in kinds if kind not in on_host]
    for kind in on_host:
        _look(kind, ends, _host_root() if kind.name == HOST_ROOT else _host_user())
    if in_vm:
        with booted() as vm:
            for kind in in_vm:
                _look(kind, ends, vm.open(kind.name))
    text = page(kinds)
    sys.stdout.write(text)
    if not asked.words:
        PAGE.write_text(text)
    bad = [kind for kind in kinds if kind.verdicts("SUCCEEDED") or kind.note]
    return 1 if bad else 0


HOST_ROOT, HOST_USER = "host, root", "host, user"
VM_LOGIN, VM_SCOPE = "VM, user, plain login", "VM, user, scope"
VM_NO_NAMESPACES = "VM, user, no user namespaces"
NAMES = (HOST_ROOT, HOST_USER, VM_LOGIN, VM_SCOPE, VM_NO_NAMESPACES)


def _look(
    kind: Kind, ends: float, opened: "contextlib.AbstractContextManager[Run]"
) -> None:
    """Ask doctor, run the starter and carry out the attacks."""
    began = time.monotonic()
    sys.stderr.write(f"== {kind.name}\n")
    with opened as run:
        try:
            _judge(kind, run, ends)
        except (subprocess.TimeoutExpired, ValueError) as error:
            kind.note = f"not finished: {str(error)[-200:]}"
    kind.minutes = (time.monotonic() - began) / 60


def _judge(kind: Kind, run: Run, ends: float) -> None:
    def left() -> float:
        return max(1.0, ends - time.monotonic())

    said = run("mlab doctor --json", left())
    facts = json.loads(said.stdout)
    kind.doctor = {
        fact["name"]: f"{'' if fact['status'] == 'ok' else 'FIX: '}{fact['value']}"
        for fact in facts
        if fact["name"] in ("sandbox", "limits") or fact["status"] == "fail"
    }
    if kind.name == HOST_ROOT:
        return
    done = run("mlab run house-price --agent starter --yes --out runs", left())
    score = [line.strip() for line in done.stdout.splitlines() if "score" in line]
    kind.starter = (
        f"exit {done.returncode}" if not score else " ".join(score[0].split())
    )
    if kind.name == VM_NO_NAMESPACES:
        if done.returncode != 3:  # the exit code for a machine
            kind.note = f"mlab run exits with {done.returncode}, not with 3"
        return
    here = {attack.name for attack in attacks_here()}
    names = " ".join(name for name in ELSEWHERE if name in here)
    run("rm -f results", left())
    try:
        run(f"python -m tests.redteam --no-live --results results {names}", left())
    finally:
        lines = run("cat results", 60).stdout.splitlines()
        kind.results = [Result.model_validate(json.loads(line)) for line in lines]
    missing = len(names.split()) - len(kind.results)
    if missing:
        kind.note = f"{missing} attacks were not tried"


def _plain(
    line: str, seconds: float, **more: object
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-c", line],
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        **more,
    )


@contextmanager
def _host_root() -> Iterator[Run]:
    """As we are."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        more = {"cwd": folder, "env": {**os.environ, "PATH": path}}
        yield lambda line, seconds: _plain(line, seconds, **more)


@contextmanager
def _host_user() -> Iterator[Run]:
    """As a user who owns nothing but a folder, and may make no control groups."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        top, cache = Path(folder), default_cache()
        top.chmod(0o755)
        copy_cache(cache, top / "home")
        home = top / "home"
        needs = [Path(sys.base_prefix), Path(sys.prefix), PROJECT, *environments(cache)]
        variables = {
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "MLAB_CACHE": str(home / "cache"),
            "PYTHONPATH": str(PROJECT),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

        def run(line: str, seconds: float) -> "subprocess.CompletedProcess[str]":
            words = ["/bin/sh", "-c", f"cd {home} && {line}"]
            command = shlex.join(ordinary_command(words, needs=needs, uid=UID))
            return _plain(command, seconds, env=variables)

        yield run


@dataclass(frozen=True)
class VirtualMachine:
    """A virtual machine that is up."""

    port: int

    def ssh(
        self, user: str, line: str, seconds: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command line after a real login."""
        options = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "BatchMode": "yes",
            "ConnectTimeout": "30",
            "ServerAliveInterval": "30",
            "ServerAliveCountMax": "20",
        }
        words = [word for pair in options.items() for word in ("-o", "=".join(pair))]
        where = ["-i", str(_HOME / "key"), "-p", str(self.port), f"{user}@127.0.0.1"]
        return subprocess.run(
            ["ssh", "-q", *words, *where, line],
            check=False,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
        )

    @contextmanager
    def open(self, name: str) -> Iterator[Run]:
        """Be one kind of user; what the last kind changed stays changed."""
        if name == VM_NO_NAMESPACES:
            self.ssh("root", "sysctl -qw kernel.unprivileged_userns_clone=0", 60)
        scope = "systemd-run --user --scope -q " if name == VM_SCOPE else ""
        settings = f"MLAB_CACHE={_INSIDE}/cache PATH={_INSIDE}/.venv/bin:$PATH"

        def run(line: str, seconds: float) -> "subprocess.CompletedProcess[str]":
            inner = shlex.quote(f"cd {_INSIDE} && {line}")
            whole = f"{settings} {scope}sh -c {inner}"
            return self.ssh("user", f"export {settings}; {whole}", seconds)

        yield run


@contextmanager
def booted() -> Iterator[VirtualMachine]:
    """Boot a fresh copy of the image with the project in it; stop it at the end."""
    with tempfile.TemporaryDirectory(dir=_HOME, prefix="run.") as folder:
        port = 20000 + os.getpid() % 20000
        network = f"user,id=n,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"
        command = [
            # Killed with this process, even if that is killed by SIGKILL.
            *("setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64"),
            *("-machine", "q35", "-accel", "tcg,thread=multi,tb-size=512"),
            *("-cpu", "max", "-smp", "2", "-m", "5120", "-nodefaults", "-no-reboot"),
            *("-display", "none", "-serial", f"file:{folder}/console", "-snapshot"),
            *("-kernel", str(_HOME / "vmlinuz"), "-initrd", str(_HOME / "initrd")),
            *("-append", "console=ttyS0 rw quiet mitigations=off"),
            *("-drive", f"file={_HOME}/root.img,if=none,id=r,format=raw"),
            *("-device", "virtio-blk-pci,drive=r"),
            *("-drive", f"file={_HOME}/job.img,if=none,id=s,format=raw"),
            *("-device", "virtio-blk-pci,drive=s"),
            *("-netdev", network, "-device", "virtio-net-pci,netdev=n,romfile="),
        ]
        with subprocess.Popen(command, env={**os.environ, "TMPDIR": folder}) as qemu:
            try:
                vm = VirtualMachine(port)
                _wait_for_login(vm, qemu, Path(folder) / "console")
                yield vm
                with contextlib.suppress(subprocess.TimeoutExpired):
                    vm.ssh("root", "systemctl poweroff", 30)
                    qemu.wait(60)
            finally:
                qemu.kill()


def _wait_for_login(
    vm: VirtualMachine, qemu: "subprocess.Popen[bytes]", console: Path
) -> None:
    began = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if vm.ssh("user", "true", 60).returncode == 0:
                break
        if qemu.poll() is not None or time.monotonic() - began > _BOOT_SECONDS:
            raise RuntimeError(f"no login: {console.read_text()[-500:]}")
        time.sleep(1)
    sys.stderr.write(f"login after {time.monotonic() - began:.0f} s\n")


def build() -> None:
    """Build the image and the project in it, unless they are there already."""
    _HOME.mkdir(parents=True, exist_ok=True)
    with (_HOME / "lock").open("w") as lock:
        # Whoever comes second waits here and finds everything built.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (_HOME / "root.img").exists():
            with _built_in(_HOME / "work") as work:
                _build_root(work)
        _build_job()


@contextmanager
def _built_in(work: Path) -> Iterator[Path]:
    """Yield an empty folder; its files go where they belong when all are there."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    yield work
    # The image comes last: if it is there, everything else is.
    for path in sorted(work.iterdir(), key=lambda path: path.suffix == ".img"):
        if path.is_file():
            path.rename(_HOME / path.name)
    shutil.rmtree(work, ignore_errors=True)


def _build_root(work: Path) -> None:
    root = work / "root"
    options = ("Acquire::Check-Valid-Until false", "Apt::Install-Recommends false")
    _call(
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase"),
        f"--include={','.join(_PACKAGES)}",
        *(f'--aptopt={name} "{value}"' for name, value in map(str.split, options)),
        *("--dpkgopt=path-exclude=/usr/share/doc/*", "bookworm", root),
        os.environ.get("MLAB_APT_SOURCES", "/etc/apt/sources.list.d/debian.sources"),
    )
    _call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work / "key")
    _furnish(root, (work / "key.pub").read_text())
    _make_initrd(root, work)
    shutil.rmtree(root / "boot")
    (root / "boot").mkdir()
    _call(*_EXT4, "-d", root, work / "root.img", _DISK)


def _furnish(root: Path, key: str) -> None:
    """Add one ordinary user; remove addresses of this host and what slows a boot."""
    _call("chroot", root, "useradd", "-m", "-s", "/bin/bash", "-u", "1000", "user")
    for home in (root / "home" / "user", root / "root"):
        (home / ".ssh").mkdir(mode=0o700)
        (home / ".ssh" / "authorized_keys").write_text(key)
    _call("chroot", root, "chown", "-R", "user:user", "/home/user")
    for path in (root / "etc/apt").rglob("*sources*"):
        if path.is_file():
            path.unlink()
    files = {
        "etc/hostname": "machine\n",
        "etc/hosts": "127.0.0.1 localhost machine\n",
        "etc/resolv.conf": "",
        "etc/fstab": "/dev/vdb /srv ext4 rw,x-systemd.device-timeout=60s 0 0\n",
        "etc/systemd/network/10-only.network": "[Match]\nType=ether\n[Network]\n"
        "Address=10.0.2.15/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n",
        "etc/ssh/sshd_config.d/machine.conf": "UseDNS no\nPasswordAuthentication no\n",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    _call("chroot", root, "systemctl", "-q", "enable", "systemd-networkd", "ssh")
    _call("chroot", root, "systemctl", "-q", "mask", *_UNWANTED)


_INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t devtmpfs dev /dev
$B mount -t proc proc /proc
for module in $($B cat /modules/order); do $B insmod /modules/$module; done
while [ ! -b /dev/vda ]; do $B sleep 0.1; done
$B mount -t ext4 /dev/vda /new
$B mount --move /dev /new/dev
$B umount /proc
exec $B switch_root /new /lib/systemd/systemd
"""


def _make_initrd(root: Path, out: Path) -> None:
    """Pack the modules of virtio disks, which are not built into Debian's kernel."""
    (kernel,) = (root / "boot").glob("vmlinuz-*")
    shutil.copy(kernel, out / "vmlinuz")
    version = kernel.name.partition("-")[2]
    top = out / "initrd.d"
    for name in ("bin", "dev", "proc", "new", "modules"):
        (top / name).mkdir(parents=True)
    shutil.copy(root / "bin" / "busybox", top / "bin")
    order: list[str] = []
    for module in ("virtio_pci", "virtio_blk"):
        show = ("modprobe", "-d", root, "-S", version, "--show-depends", module)
        for line in _call(*show).splitlines():
            file = Path(line.split()[1])
            if file.name not in order:
                order.append(file.name)
                shutil.copy(file, top / "modules")
    (top / "modules" / "order").write_text("\n".join(order))
    (top / "init").write_text(_INIT)
    (top / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(top)) for path in top.rglob("*"))
    with (out / "initrd").open("wb") as archive:
        subprocess.run(
            ["cpio", "-o", "-H", "newc", "--quiet"],
            cwd=top,
            input=f".\n{names}\n".encode(),
            stdout=archive,
            check=True,
        )


_MAKE_JOB = """
mount --bind "$1" /srv
cd /srv/job
[ -x .venv/bin/python ] || "$2" -m venv --without-pip .venv
"$3" -m pip --quiet --disable-pip-version-check --python .venv install \\
    --constraint "$4/constraints.txt" "$4"
rm -rf tests && cp -r "$4/tests" tests
MLAB_CACHE=/srv/job/cache PATH=/srv/job/.venv/bin:$PATH mlab prepare house-price
chown -R 1000:1000 /srv/job
"""


def _build_job() -> None:
    """Install the project, as it is now, at the path that it has inside."""
    stage = _HOME / "stage"
    (stage / "job").mkdir(parents=True, exist_ok=True)
    _call(
        *("unshare", "--mount", "/bin/sh", "-euc", _MAKE_JOB, "sh"),
        *(stage, _PYTHON, sys.executable, PROJECT),
    )
    (_HOME / "job.img").unlink(missing_ok=True)
    _call(*_EXT4, "-d", stage, _HOME / "job.img", _DISK)


def _call(*words: str | Path) -> str:
    done = subprocess.run(
        [str(word) for word in words], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{words[0]} failed: {done.stderr.strip()[-800:]}")
    return done.stdout


def page(kinds: Sequence[Kind]) -> str:
    """Return docs/machines.md."""
    rows = [
        f"| {kind.name} | {_cell(kind.doctor.values())} | {kind.starter} | "
        f"{len(kind.results)} | {len(kind.verdicts('stopped'))} | "
        f"{_cell(kind.verdicts('SUCCEEDED')) or '0'} | "
        f"{_cell(_unclear(kind)) or '0'} | "
        f"{kind.minutes:.1f} | {kind.note} |"
        for kind in kinds
    ]
    columns = "machine and user|limits by `mlab doctor`|starter run|attacks|stopped"
    columns += "|succeeded|unclear|minutes|note"
    head = f"| {' | '.join(columns.split('|'))} |"
    line = f"|{'---|' * (columns.count('|') + 1)}"
    return "\n".join(
        (
            "# Record of `make machines`",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, host kernel"
            f" {platform.release().split('-')[0]}. The virtual machine is emulated"
            " without KVM: Debian 12, systemd, cgroup v2.",
            "",
            head,
            line,
            *rows,
            "",
        )
    )


def _unclear(kind: Kind) -> list[str]:
    return [
        f"{one.attack} ({one.in_sandbox.unclear})"
        for one in kind.results
        if one.in_sandbox.unclear
    ]


def _cell(parts: Iterable[str]) -> str:
    return "; ".join(map(str, parts)).replace("|", "/").replace("\n", " ")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help=f"build, or some of: {NAMES}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
