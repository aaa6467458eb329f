"""Both sides of an attack, and what they say together."""

import asyncio
import subprocess
import time

from tests.redteam.attack import Attack, BrokenAttackError, Seen
from tests.redteam.scene import perform
from tests.redteam.stage import Stage

from mlagentbench.core.record import Record


class Verdict(Record):
    """What is known about one attack after it was tried on both sides."""

    attack: str
    in_sandbox: Seen
    unprotected: Seen
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the attack works, and the sandbox stops it."""
        return self.unprotected.succeeded and not self.in_sandbox.succeeded

    def __str__(self) -> str:
        """One line: attack, outcome, live without protection, evidence."""
        outcome = "SUCCEEDED" if self.in_sandbox.succeeded else "stopped"
        live = "yes" if self.unprotected.succeeded else "NO"
        return (
            f"{self.attack:<24} | {outcome:<9} | live without protection: {live:<3} | "
            f"{_short(self.in_sandbox)} || unprotected: {_short(self.unprotected)}"
        )


def tried(stage: Stage, attack: Attack) -> Verdict:
    """Carry out an attack in the sandbox, then without the protection."""
    began = time.monotonic()
    in_sandbox = _seen(perform(stage, attack), broken_means=True)
    unprotected = _seen(attack.live(stage, attack), broken_means=False)
    return Verdict(
        attack=attack.name,
        in_sandbox=in_sandbox,
        unprotected=unprotected,
        seconds=time.monotonic() - began,
    )


def _short(seen: Seen) -> str:
    line = " ".join(seen.evidence.split())
    return line if len(line) <= 110 else f"{line[:107]}..."


def _seen(
    playing: "asyncio.Coroutine[None, None, Seen]", *, broken_means: bool
) -> Seen:
    """Return what was seen; an attack without evidence counts against us."""
    try:
        return asyncio.run(playing)
    except (BrokenAttackError, OSError, subprocess.SubprocessError) as broken:
        return Seen(succeeded=broken_means, evidence=f"broken attack: {broken!r}")
