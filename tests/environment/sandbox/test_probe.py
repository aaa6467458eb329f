"""What a machine is told when it cannot isolate."""

import os
import stat
from pathlib import Path

import pytest

from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox import probe as probing
from mlagentbench.environment.sandbox.host import version_in
from mlagentbench.environment.sandbox.probe import probe, require_isolation
from mlagentbench.environment.sandbox.system_tree import system_programs

ordinary = pytest.mark.skipif(os.geteuid() == 0, reason="says how root can fix it")


def test_this_machine_isolates():
    found = probe()
    assert found.ok, f"{found.reason}; {found.fix}"
    assert found.mode == ("root" if os.geteuid() == 0 else "user")
    assert "memory" in str(found.limits)
    assert require_isolation() == found


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_other_systems_are_told_that_linux_is_needed(system):
    found = probe(system=system)
    assert not found.ok
    assert system in found.reason
    assert "Linux" in found.fix


def test_a_missing_program_is_named_with_its_package(tmp_path):
    found = probe(search=str(tmp_path))
    assert "bwrap is not installed" in found.reason
    assert "`sudo apt-get install bubblewrap`" in found.fix
    program(tmp_path, "bwrap", "bubblewrap 0.9.0")
    program(tmp_path, "dnf", "")
    found = probe(search=str(tmp_path))
    assert "setpriv is not installed" in found.reason
    assert "`sudo dnf install util-linux`" in found.fix


def test_an_old_bubblewrap_is_named(tmp_path):
    for name in system_programs():
        program(tmp_path, name, "")
    program(tmp_path, "bwrap", "bubblewrap 0.4.1")
    found = probe(search=str(tmp_path))
    assert "bubblewrap 0.4.1 is too old" in found.reason
    assert "0.8" in found.fix


@pytest.mark.parametrize(
    ("setting", "value", "fix"),
    [
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or give "
            "bwrap an AppArmor profile",
        ),
        ("kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone=1`"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000`"),
    ],
)
@ordinary
def test_a_switch_that_is_off_is_named(tmp_path, setting, value, fix):
    (tmp_path / setting).parent.mkdir(parents=True)
    (tmp_path / setting).write_text(f"{value}\n")
    found = probing._explain_refusal("Permission denied", tmp_path)
    assert not found.ok
    assert fix in found.fix


@ordinary
def test_an_unknown_refusal_is_shown_as_it_was_said(tmp_path):
    found = probing._explain_refusal("setting up uid map: Permission denied", tmp_path)
    assert "setting up uid map" in found.reason


def test_a_run_that_cannot_be_isolated_stops(monkeypatch):
    monkeypatch.setattr(probing.platform, "system", lambda: "Darwin")
    with pytest.raises(MachineError, match="this is Darwin; use a Linux machine"):
        require_isolation()


def test_versions_are_found_in_what_programs_say():
    assert version_in("bubblewrap 0.11.2") == (0, 11)
    assert version_in("6.18.0-rc1+deb12") == (6, 18)
    assert version_in("unknown") == (0, 0)


def program(folder: Path, name: str, says: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{says}'\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
