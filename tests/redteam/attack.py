"""An attack: a script, and its required outcome."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from mlagentbench.core.record import Record

ATTACKS = Path(__file__).parent / "attacks"


class BrokenAttackError(Exception):
    """An attack gave no evidence, so nothing is known about the protection."""


class HarnessFaultError(Exception):
    """An action failed in a way that would be counted as the harness's own fault."""


class Observed(Record):
    """What an agent gets to see of one action."""

    ok: bool
    text: str
    given: dict[str, str]


NO_DISK = "disk too small"
TOO_SLOW = "too slow to tell"


@dataclass(frozen=True)
class Seen:
    """What came of an attack, on either side."""

    succeeded: bool
    evidence: str
    unclear: Literal["", "disk too small", "too slow to tell"] = ""
    """Why nothing is known: the machine was at fault, not the sandbox."""

    @property
    def verdict(self) -> str:
        """The outcome in the words of the table."""
        return self.unclear or ("SUCCEEDED" if self.succeeded else "stopped")


class Attack(Record):
    """One row of the table."""

    name: str
    """The script is `attacks/NAME.py`; its docstring describes the attack."""
    must: str
    """The outcome it must have in the sandbox."""
    sandboxed: Callable[..., Awaitable[Seen]]
    """Given an attempt, carries it out through real actions and returns the outcome."""
    live: Callable[..., Awaitable[Seen]]
    """Given setup and attack, carries it out without the protection: must succeed."""
    limits: dict[str, int] = Field(default_factory=dict)
    """Limits tighter than a run's own, so that the attack can be small."""
    seconds: float = 240
    """The longest its execution may take."""
    files: int | None = None
    """How many files the watchdog allows, where its own number takes too long."""
    disk_mb: int = 100
    """The free disk that it needs on either side."""
    live_as: Literal["anyone", "root", "user"] = "anyone"
    """Who can do it without the protection; others the kernel stops, or allows all."""
    machine: str | None = None
    """The architecture it is written for, where it is for one only."""

    @property
    def is_live_here(self) -> bool:
        """Whether this user can show that it works without the protection."""
        me = "root" if os.geteuid() == 0 else "user"
        return self.live_as in ("anyone", me)

    @property
    def script(self) -> str:
        return (ATTACKS / f"{self.name}.py").read_text(encoding="utf-8")


def evidence_in(text: str) -> Seen:
    """Return the one line of evidence in what a script printed."""
    for line in text.splitlines():
        verdict, colon, words = line.partition(": ")
        if colon and verdict in ("SUCCEEDED", "FAILED"):
            return Seen(verdict == "SUCCEEDED", words)
    raise BrokenAttackError(f"no evidence: {text[-500:]}")
