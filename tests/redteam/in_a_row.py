"""Random attacks in a row on one harness, which must not grow or leave anything."""

import asyncio
import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.redteam.attempt import perform
from tests.redteam.kernel_attacks import KERNEL
from tests.redteam.resource_attacks import HELD
from tests.redteam.setup import AttackSetup
from tests.redteam.table import SAMPLE, attacks_here

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_WARM = 0.2
"""The share of executions after which memory must not grow any more."""
_WINDOW = 0.1
GROWTH = 0.20
_LONG = (
    # They read every file, print gigabytes, execute several times or wait for long.
    *("secrets_by_content", "labels_by_name", "harness_by_name", "flood"),
    *("disk_ratchet", "slow_death", "shell_words", "folder_swap", "waiting_daemon"),
    *("deep_folders", "disk_files", "disk_tiny_files", "disk_folders"),
    *("disk_symlinks", "memory_shm_names", "memory_pipes", "memory_pipes_spliced"),
)


@dataclass
class Row:
    """Attacks that were carried out one after the other, and what they cost."""

    memory_mb: list[float] = field(default_factory=list)
    """Of the harness, after each execution."""
    descriptors: list[int] = field(default_factory=list)
    succeeded: list[str] = field(default_factory=list)
    left: str = ""
    """What was left behind, if anything."""

    @property
    def growth(self) -> float:
        """The share by which memory grew from the warm harness to the end."""
        count = len(self.memory_mb)
        window = max(1, int(count * _WINDOW))
        warm = self.memory_mb[int(count * _WARM) :][:window]
        return statistics.median(self.memory_mb[-window:]) / statistics.median(warm) - 1

    @property
    def problems(self) -> list[str]:
        """Return everything that is not as it must be."""
        found = [f"attacks succeeded: {self.succeeded}"] if self.succeeded else []
        if self.growth > GROWTH:
            found.append(f"memory of the harness grew by {self.growth:.0%}")
        if self.descriptors[-1] > self.descriptors[0]:
            first, last = self.descriptors[0], self.descriptors[-1]
            found.append(f"open descriptors grew from {first} to {last}")
        return [*found, self.left] if self.left else found


def attack_in_a_row(
    setup: AttackSetup,
    count: int,
    chance: random.Random,
    ends: float,
    tell: Callable[[str], None],
) -> Row:
    """Carry out random attacks in the sandbox until enough were, or time is up."""
    pool = [
        one for one in attacks_here((*SAMPLE, *KERNEL, *HELD)) if one.name not in _LONG
    ]
    row, locks = Row(), _locks()
    while len(row.memory_mb) < count and time.monotonic() < ends:
        attack = chance.choice(pool)
        tell(f"{len(row.memory_mb)} of {count}: {attack.name}")
        seen = asyncio.run(perform(setup, attack))
        if seen.verdict == "SUCCEEDED":
            row.succeeded.append(attack.name)
        row.memory_mb.append(
            int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_MB
        )
        row.descriptors.append(len(list(Path("/proc/self/fd").iterdir())))
    left = setup.leftovers()
    held = _locks() - locks
    if left.any or held > 0:
        row.left = f"{left}, {max(0, held)} locks"
    return row


def _locks() -> int:
    """Return how many file locks this process holds."""
    fields = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    # The process is the fifth field, or the sixth of one that waits.
    return sum(str(os.getpid()) in words[4:6] for words in fields)
