"""How rows of the table are written: the ways in which attacks are carried out."""

from typing import Any

from tests.redteam import sandboxed, unprotected
from tests.redteam.attack import Attack
from tests.redteam.meanwhile import Act, host_still_has
from tests.redteam.sandboxed import Sandboxed, script
from tests.redteam.unprotected import Live, bare, loosened

DISK: dict[str, Any] = {
    "sandboxed": sandboxed.stopped_by("disk limit of"),
    "limits": {"workspace_mb": 50},
    "disk_mb": 700,
}
MEMORY: dict[str, Any] = {
    "sandboxed": sandboxed.stopped_by("memory limit was reached"),
    "live": loosened,
    "limits": {"memory_mb": 400},
}
PROCESSES = {"processes": 64}
KERNEL_MEMORY = MEMORY | {"limits": {"memory_mb": 150}}
"""Of buffers, of which the kernel gives nobody as much as of ordinary memory."""


def row(
    name: str, must: str, sandboxed: Sandboxed = script, live: Live = bare, **more: Any
) -> Attack:
    return Attack(name=name, must=must, sandboxed=sandboxed, live=live, **more)


def memory(name: str, kind: dict[str, Any] = MEMORY) -> Attack:
    return row(name, "it is killed at its limit", **kind)


def disk(name: str, **more: Any) -> Attack:
    kind = DISK | {"live": loosened} | more
    return row(name, "it is killed at its limit", **kind)


def used_up(name: str, one_more: str) -> Attack:
    """Return an attack on what a user of the host has only so much of."""
    act = host_still_has(one_more)
    must = "the host's user has enough left"
    return row(name, must, *both(act), live_as="user")


_SNAPSHOTS_MB = 150


def snapshot(name: str) -> Attack:
    return row(
        f"snapshot_{name}",
        "snapshots stay within their quota",
        sandboxed.snapshots_stay_below(_SNAPSHOTS_MB),
        unprotected.copies_exceed(_SNAPSHOTS_MB),
        disk_mb=1500,
    )


def planted(kind: str, live: Live) -> Attack:
    refused = sandboxed.refused_as_submission
    return row(f"submission_{kind}", "it is refused at once", refused, live)


def both(act: Act) -> tuple[Sandboxed, Live]:
    """Return both sides of an attack during which somebody else acts."""
    return sandboxed.meanwhile(act), unprotected.bare_meanwhile(act)
