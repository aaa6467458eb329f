"""The contract of an action: a name, what it takes, and what it does in a room."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.room import Room

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Action:
    """Something an agent may do; what it returns is the observation."""

    name: str
    """As the paper writes it: `Execute Script`."""
    summary: str
    """What it does, told to the agent."""
    do: Callable[..., Awaitable[str]]
    """Called with the room and one string per parameter."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Each parameter's name and what it means."""
    executes: bool = False
    """Whether it runs the agent's code, after which progress is measured."""
    ends_run: bool = False

    @property
    def tool_name(self) -> str:
        """The name under which models call it as a tool: `execute_script`."""
        return "_".join(_WORD.findall(self.name.lower()))

    @property
    def usage(self) -> str:
        """How to call it, shown when it was called wrongly."""
        inputs = ", ".join(
            f'"{name}": <{text}>' for name, text in self.parameters.items()
        )
        return (
            f"{self.name} takes {{{inputs}}}" if inputs else f"{self.name} takes {{}}"
        )

    async def perform(self, room: Room, given: Mapping[str, object]) -> str:
        """Check the arguments, then act."""
        if set(given) != set(self.parameters):
            raise ActionError(f"wrong arguments. Usage: {self.usage}")
        if not all(isinstance(value, str) for value in given.values()):
            raise ActionError(f"arguments must be text. Usage: {self.usage}")
        return await self.do(room, **given)
