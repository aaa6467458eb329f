"""Slots: machine-wide numbers that keep sandboxes apart.

A slot gives its sandbox a user id of its own, where the host user is root, and a core
of its own while there are cores left. It is held as an abstract socket name, which the
kernel gives back when the holder dies, however it dies.
"""

import os
import socket

from mlagentbench.core.errors import MachineError

FIRST_UID = 61000
# Beyond these lie the ids that systemd hands out by itself.
_SLOTS = 184


class Slot:
    """One number that nobody else on this machine holds."""

    def __init__(self, number: int, holder: socket.socket) -> None:
        self.number = number
        self._holder = holder

    @property
    def uid(self) -> int:
        """The user and group id that runs in this slot under a root host."""
        return FIRST_UID + self.number

    def cores(self, wanted: int) -> tuple[int, ...]:
        """Return the cores this slot is pinned to, `wanted` of those we may use."""
        allowed = sorted(os.sched_getaffinity(0))
        first = self.number * wanted
        indices = range(first, first + min(wanted, len(allowed)))
        return tuple(sorted(allowed[index % len(allowed)] for index in indices))

    def release(self) -> None:
        """Let another sandbox have the number."""
        self._holder.close()


def take_slot() -> Slot:
    """Take the lowest number that is free."""
    for number in range(_SLOTS):
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0mlagentbench-slot-{number}")
        except OSError:
            holder.close()
        else:
            return Slot(number, holder)
    raise MachineError(
        f"{_SLOTS} sandboxes are open on this machine; wait until one is done"
    )
