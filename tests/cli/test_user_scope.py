"""Commands that start themselves again in a scope of systemd."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.redteam.ordinary import UID, as_ordinary_user

PROJECT = Path(__file__).parents[2]
SYSTEMD_RUN = """#!/bin/sh
echo "$@" >> "$HOME/scopes"
while [ "$1" != "--" ]; do shift; done
shift
exec "$@"
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can become another user"
)


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, UID, UID)
        yield Path(folder)


def mlab(home: Path, *words: str, works: bool = True) -> list[str]:
    """Run `mlab` as a user without cgroups; return the calls of systemd-run."""
    program = home / "systemd-run"
    program.write_text(SYSTEMD_RUN if works else "#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    done = as_ordinary_user(
        [sys.executable, "-m", "mlagentbench", *words],
        needs=[Path(sys.base_prefix), Path(sys.prefix), PROJECT],
        home=home,
        PATH=f"{home}:{os.environ['PATH']}",
    )
    assert "memory: watchdog" in done.stdout or "doctor" not in words, done.stdout
    scopes = home / "scopes"
    return scopes.read_text().splitlines() if scopes.exists() else []


def test_a_command_with_sandboxes_starts_again_in_a_scope_exactly_once(home):
    trial, again = mlab(home, "doctor")
    options = "--user --scope --quiet --collect --"
    assert trial == f"{options} true"
    assert again == f"{options} {sys.executable} -m mlagentbench doctor"


def test_a_command_goes_on_without_a_scope_if_systemd_makes_none(home):
    assert mlab(home, "doctor", works=False) == []


def test_a_command_without_sandboxes_needs_no_scope(home):
    assert mlab(home, "agents") == []
