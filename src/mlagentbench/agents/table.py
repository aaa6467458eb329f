"""Which agents there are: one line each, imported only when one is called."""

import difflib
import importlib
from typing import cast

from mlagentbench.agents.context import Agent
from mlagentbench.core.errors import UsageError
from mlagentbench.core.record import Record


class AgentEntry(Record):
    """One line of the table."""

    name: str
    summary: str
    target: str
    """`module:function`."""
    needs_model: bool = False


AGENTS: dict[str, AgentEntry] = {
    entry.name: entry
    for entry in (
        AgentEntry(
            name="starter",
            summary="runs the starter as shipped and submits: the paper's Baseline",
            target="mlagentbench.agents.starter:starter",
        ),
        AgentEntry(
            name="reference",
            summary="submits the known good solution: what is possible",
            target="mlagentbench.agents.reference:reference",
        ),
        AgentEntry(
            name="tuner",
            summary="searches the starter's number constants with Optuna, no model",
            target="mlagentbench.agents.tuner:tuner",
        ),
    )
}


def find_agent(name: str) -> AgentEntry:
    """Return the table's entry, or one for an outside `module:function`."""
    if ":" in name:
        return AgentEntry(name=name, summary="an agent from outside", target=name)
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=3) or sorted(AGENTS)
        raise UsageError(
            f"there is no agent '{name}'; did you mean {' or '.join(near)}?"
            " An agent of your own is given as module:function."
        )
    return AGENTS[name]


def load_agent(entry: AgentEntry) -> Agent:
    """Import the function an entry names."""
    module_name, _, function_name = entry.target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"cannot import '{missing.name}' for the agent {entry.name};"
            " put its folder on PYTHONPATH or install it"
        ) from missing
    if not callable(function := getattr(module, function_name, None)):
        raise UsageError(f"{module_name} has no function '{function_name}'")
    return cast("Agent", function)
