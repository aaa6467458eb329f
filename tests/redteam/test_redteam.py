"""Every attack of the table: stopped in the sandbox, and alive without it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.redteam.attack import ATTACKS as SCRIPTS
from tests.redteam.attempt import tried
from tests.redteam.setup import AttackSetup, open_setup
from tests.redteam.table import ATTACKS, SAMPLE, TAKE, attacks_here


@pytest.fixture(scope="module")
def setup(cache: Path) -> Iterator[AttackSetup]:
    with open_setup(cache) as opened:
        yield opened


def _parameter(attack):
    # Attacks on resources wait until a limit is reached, twice.
    # The search for secrets reads every file it can.
    is_slow = attack in TAKE or attack.name == "secrets_by_content"
    marks = [pytest.mark.slow] if is_slow else []
    return pytest.param(attack, id=attack.name, marks=marks)


@pytest.mark.parametrize("attack", [_parameter(one) for one in attacks_here(SAMPLE)])
def test_an_attack_is_stopped_and_would_succeed_without_the_protection(setup, attack):
    result = tried(setup, attack)
    assert result.in_sandbox.verdict == "stopped", f"{attack.must}: {result}"
    assert result.unprotected, f"this user cannot show it: {result}"
    assert result.unprotected.succeeded, f"the attack itself is broken: {result}"


def test_nothing_is_left_behind(setup):
    left = setup.leftovers()
    assert not left.any, left


def test_every_script_is_in_the_table():
    assert {Path(path).stem for path in SCRIPTS.glob("*.py")} == set(ATTACKS)
