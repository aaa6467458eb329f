"""The attacks, all of them, in the order in which they are tried."""

import os
import platform

from tests.redteam.attack import Attack
from tests.redteam.table_machine import MACHINE
from tests.redteam.table_reach import REACH
from tests.redteam.table_submission import SUBMISSION
from tests.redteam.table_take import TAKE

ATTACKS: dict[str, Attack] = {
    attack.name: attack for attack in (*REACH, *MACHINE, *TAKE, *SUBMISSION)
}


def attacks_here() -> list[Attack]:
    """Return the attacks that mean something on this machine, for this user."""
    return [
        attack
        for attack in ATTACKS.values()
        if attack.machine in (None, platform.machine())
        and (os.geteuid() == 0 or not attack.needs_root)
    ]
