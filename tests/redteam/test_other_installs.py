"""The same attacks on a harness that is installed or run in another way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.redteam.ordinary import (
    VERSION,
    as_ordinary_user,
    copy_cache,
    copy_interpreter,
    environments,
)
from tests.redteam.table import ATTACKS

PROJECT = Path(__file__).parents[2]
ON_FILES = [
    name for name in ATTACKS if name.startswith(("labels_", "harness_", "secrets_"))
]
# `make redteam` tries the complete list as an ordinary user.
SAMPLE = [
    *(
        name
        for name in ATTACKS
        if name.startswith(("labels_", "harness_", "network_", "data_"))
    ),
    *("host_environment", "host_through_proc", "host_processes"),
    *("namespaces", "mounts", "vsock", "shared_memory", "other_sandbox", "cores"),
    *("inherited_descriptors", "foreign_calls", "fork_bomb", "memory_many"),
    *("disk_bytes", "signal_ignorer", "waiting_daemon", "submission_symlink"),
    "paths_out",
]

pytestmark = pytest.mark.slow


def test_a_wheel_in_the_interpreter_that_sandboxes_show_is_not_seen(elsewhere, cache):
    """As after `pip install mlagentbench` without a virtual environment."""
    python = copy_interpreter(elsewhere / "base")
    _install_wheel(elsewhere)
    env = elsewhere / "env"
    subprocess.run([python, "-m", "venv", "--without-pip", env], check=True)
    where = ["--cache", cache.absolute(), "--agent-env", env]
    done = subprocess.run(
        [python, "-m", "tests.redteam", *where, *ON_FILES],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=PROJECT,
    )
    assert done.returncode == 0, done.stdout
    installed = elsewhere / "base" / "lib" / VERSION / "site-packages" / "mlagentbench"
    assert f"unprotected: found {installed}" in done.stdout


def _install_wheel(elsewhere: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = elsewhere / "wheels"
    build = [*pip, "wheel", "--no-deps", "--wheel-dir", wheels, PROJECT]
    subprocess.run(build, check=True)
    packages = elsewhere / "base" / "lib" / VERSION / "site-packages"
    (wheel,) = wheels.iterdir()
    subprocess.run(
        [*pip, "install", "--no-deps", "--target", packages, wheel], check=True
    )
    # What it depends on is shared; the editable install is not found this way.
    shared = Path(pytest.__file__).parents[1]
    (packages / "shared.pth").write_text(f"{shared}\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="the user is ordinary already")
def test_an_ordinary_user_is_as_safe(elsewhere, cache):
    home = elsewhere / "home"
    copy_cache(cache, home)
    needs = [Path(sys.base_prefix), Path(sys.prefix), PROJECT, *environments(cache)]
    command = [sys.executable, "-m", "tests.redteam", "--cache", str(home / "cache")]
    tmp = str(home / "tmp")
    done = as_ordinary_user([*command, *SAMPLE], needs=needs, home=home, TMPDIR=tmp)
    assert done.returncode == 0, done.stdout
