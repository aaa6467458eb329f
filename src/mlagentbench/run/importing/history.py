"""What the original's agents wrote down of their own turns: `agent_log/*.json`."""

import re

from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.importing.finding import joined
from mlagentbench.run.importing.reading import LogTree
from mlagentbench.run.importing.texts import as_count, as_text, as_texts

_STATE = re.compile(r"agent_(-?[0-9]{1,9})_([0-9]{1,9})\.json")
_MOST_STATES = 400
_NO_FIELDS = frozenset({"Action", "Action Input"})
_UNREADABLE_INPUT = "ActionInputParsingError"
"""How the original's observation of an unreadable input begins."""


class Turn(Record):
    """One reply of an agent's model."""

    after: int
    """How many steps the environment had taken once it was dealt with."""
    said: dict[str, str]
    observation: str

    @property
    def is_malformed(self) -> bool:
        """Whether it came to no step: its input could not be read."""
        return self.observation.startswith(_UNREADABLE_INPUT)

    @property
    def fields(self) -> dict[str, str]:
        """What was said beside the action."""
        return {
            name: text for name, text in self.said.items() if name not in _NO_FIELDS
        }


class AgentLog(Record):
    """All that is known of an agent's turns."""

    settings: dict[str, str] = Field(default_factory=dict)
    """The arguments its run was started with."""
    by_step: dict[int, Turn] = Field(default_factory=dict)
    """The turn that led to a step of the environment, counted from 1."""
    malformed: tuple[Turn, ...] = ()
    """Turns that led to none, in order."""


def read_agent_log(tree: LogTree, run: str) -> AgentLog:
    """Put a run's saved agent states together, each as far as it can be read."""
    settings: dict[str, str] = {}
    by_step: dict[int, Turn] = {}
    malformed: list[Turn] = []
    for name in _states(tree, joined(run, "agent_log")):
        state = tree.json(name)
        if not isinstance(state, dict):
            continue
        settings |= as_texts(state.get("args"))
        turns = _turns(state.get("history_steps"))
        by_step |= {turn.after: turn for turn in turns if not turn.is_malformed}
        # An unreadable reply stays in the states only until a readable one follows.
        malformed += [turn for turn in turns[-1:] if turn.is_malformed]
    return AgentLog(settings=settings, by_step=by_step, malformed=tuple(malformed))


def _states(tree: LogTree, folder: str) -> list[str]:
    if not tree.exists(folder):
        return []
    found = [_STATE.fullmatch(entry.name) for entry in tree.entries(folder)]
    states = [match for match in found if match is not None]
    if len(states) > _MOST_STATES:
        tree.warn(folder, f"more than {_MOST_STATES} states; the last are left out")
    states.sort(key=lambda match: (int(match[1]), int(match[2])))
    return [joined(folder, match[0]) for match in states[:_MOST_STATES]]


def _turns(history: object) -> list[Turn]:
    if not isinstance(history, list):
        return []
    return [turn for entry in history if (turn := _turn(entry)) is not None]


def _turn(entry: object) -> Turn | None:
    if not isinstance(entry, dict):
        return None
    after, said = as_count(entry.get("step_idx")), as_texts(entry.get("action"))
    if after is None or not said:
        return None
    observation = shortened(as_text(entry.get("observation", "")))
    said = {name: text.strip() for name, text in said.items()}
    return Turn(after=after, said=said, observation=observation)
