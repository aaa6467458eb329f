"""The tests of this folder again, as a user without any rights."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.redteam.ordinary import UID, as_ordinary_user

HERE = Path(__file__)
PROJECT = HERE.parents[3]
CORE = ["sandbox_isolation", "probe"]
NEED_NO_USER = {HERE.stem, "test_seccomp"}
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
        pytest.param(REST, id="rest"),
    ],
)
def test_an_ordinary_user_gets_the_same_sandbox(names, agent_env, cache, home):
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        f"--basetemp={home / 'tmp'}",
        *(str(HERE.parent / f"{name}.py") for name in names),
    ]
    needs = [Path(sys.base_prefix), Path(sys.prefix), PROJECT, agent_env]
    variables = {
        "MLAB_TEST_CACHE": str(cache.absolute()),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
    }
    done = as_ordinary_user(command, needs=needs, home=home, **variables)
    assert done.returncode == 0, done.stdout
