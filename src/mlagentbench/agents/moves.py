"""What a model's reply comes to: something to do, or the reason why it is nothing."""

from pydantic import Field

from mlagentbench.core.record import Record


class Move(Record):
    """One action a model wants to take, and what it says beside it."""

    action: str
    given: dict[str, str]
    said: dict[str, str] = Field(default_factory=dict)
    """The fields of its reply, such as a thought or a plan, by their names."""


class Malformed(Record):
    """A reply that is no action."""

    why: str
    """Told to its author: what is wrong, and how to answer."""
    move: Move | None = None
    """Set where an action was named, but what it was given could not be read."""


Understood = Move | Malformed
