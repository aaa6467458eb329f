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

    @property
    def is_ours(self) -> bool:
        """Whether it is an agent of this package."""
        return self.target.startswith("mlagentbench.")


AGENTS: dict[str, AgentEntry] = {
    entry.name: entry
    for entry in (
        AgentEntry(
            name="starter",
            summary="runs the starter as shipped and submits: the paper's Baseline",
            target="mlagentbench.agents.baselines:starter",
        ),
        AgentEntry(
            name="reference",
            summary="submits the known good solution: what is possible",
            target="mlagentbench.agents.baselines:reference",
        ),
        AgentEntry(
            name="tuner",
            summary="searches the starter's number constants with Optuna, no model",
            target="mlagentbench.agents.tuner:tuner",
        ),
        AgentEntry(
            name="act",
            summary="asks a model for one action after another: the paper's Act",
            target="mlagentbench.agents.paper.paper_agents:act",
            needs_model=True,
        ),
        AgentEntry(
            name="react",
            summary="a thought before each action: the paper's ReAct",
            target="mlagentbench.agents.paper.paper_agents:react",
            needs_model=True,
        ),
        AgentEntry(
            name="research",
            summary="plans, experiments and keeps what helps; -A style=classic is the"
            " paper's research agent",
            target="mlagentbench.agents.research.agent:research",
            needs_model=True,
        ),
        AgentEntry(
            name="autogpt",
            summary="AutoGPT's loop: thoughts, plan, criticism, then a command",
            target="mlagentbench.agents.autogpt:autogpt",
            needs_model=True,
        ),
        AgentEntry(
            name="langchain",
            summary="LangChain's own agent on our actions, through Inspect's bridge",
            target="mlagentbench.agents.langchain:langchain",
            needs_model=True,
        ),
        AgentEntry(
            name="tree",
            summary="grows a tree of scripts: draft, debug, improve the best",
            target="mlagentbench.agents.tree:tree",
            needs_model=True,
        ),
        AgentEntry(
            name="bash",
            summary="the smallest modern scaffold: a model with a shell",
            target="mlagentbench.agents.bash:bash",
            needs_model=True,
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


def usual_agent(model: str | None) -> str:
    """Return who is sent where no agent was named."""
    return "tuner" if model is None else "research"


def refuse_without_model(entry: AgentEntry, *, model: bool) -> None:
    """Refuse to send an agent that cannot think."""
    if entry.needs_model and not model:
        raise UsageError(
            f"the agent {entry.name} needs a language model: add --model local for a"
            " small one that runs here, or a provider's, such as --model openai/NAME"
        )


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
