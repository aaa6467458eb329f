"""The tests of this folder again, as a user without any rights.

The interpreter, the repository or the cache may be in a home folder that is closed to
others. Bubblewrap then shows the same machine with such folders open.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mlagentbench.environment.sandbox.bwrap import find_program

UID = 60990
HERE = Path(__file__)
PROJECT = HERE.parents[3]
CORE = ["sandbox_isolation", "sandbox_limits", "cgroups", "probe"]
NEED_NO_USER = {HERE.stem, "test_output", "test_seccomp"}
REST = sorted(
    {path.stem for path in HERE.parent.glob("test_*.py")}
    - NEED_NO_USER
    - {f"test_{name}" for name in CORE}
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="the user is ordinary already"),
]


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, UID, UID)
        yield Path(folder)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([f"test_{name}" for name in CORE], id="core"),
        pytest.param(REST, id="rest", marks=pytest.mark.minutes),
    ],
)
def test_an_ordinary_user_gets_the_same_sandbox(names, agent_env, cache, home):
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        f"--basetemp={home / 'tmp'}",
        *(str(HERE.parent / f"{name}.py") for name in names),
    ]
    needs = [Path(sys.base_prefix), Path(sys.prefix), PROJECT, agent_env]
    done = subprocess.run(
        [*_as_ordinary_user(needs), *command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=PROJECT,
        env={
            "HOME": str(home),
            "MLAB_TEST_CACHE": str(cache.absolute()),
            "PATH": os.environ["PATH"],
        },
    )
    assert done.returncode == 0, done.stdout


def _as_ordinary_user(needs: Sequence[Path]) -> list[str]:
    who = [f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]
    return [
        *(find_program("bwrap"), "--dev-bind", "/", "/", *_opened(needs)),
        *(
            "--die-with-parent",
            "--",
            find_program("setpriv"),
            *who,
            "--no-new-privs",
            "--",
        ),
    ]


def _opened(paths: Sequence[Path]) -> Iterator[str]:
    for folder in {_closed_above(path) for path in paths} - {None}:
        yield from ("--perms", "0755", "--tmpfs", str(folder))
        for path in paths:
            if path.is_relative_to(folder):
                yield from _parents(path, folder)
                yield from ("--ro-bind", str(path), str(path))


def _closed_above(path: Path) -> Path | None:
    tops = reversed(path.parents)
    return next((top for top in tops if not top.stat().st_mode & 0o001), None)


def _parents(path: Path, top: Path) -> Iterator[str]:
    for parent in reversed(path.parents):
        if parent.is_relative_to(top) and parent != top:
            yield from ("--perms", "0755", "--dir", str(parent))
