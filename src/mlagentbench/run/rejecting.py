"""A reply that is not acted on, as a step: what was said, and what is answered."""

from mlagentbench.core.trace import Fault
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.performer import Outcome
from mlagentbench.run.storable import storable

_REPLY_CHARACTERS = 2_000


def as_input(reply: str) -> dict[str, str]:
    """Return what such a step keeps of the reply; the call before it has it whole."""
    return storable({"reply": shortened(reply, _REPLY_CHARACTERS)})


def rejected(why: str, fault: Fault) -> Outcome:
    """Return what comes of such a reply."""
    return Outcome(observation=shortened(why), ok=False, error=fault)
