"""The agents by name; the module of an agent is imported only when it is used."""

import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import Field

from mlagentbench.agents.context import Agent
from mlagentbench.agents.settings import (
    AgentSettings,
    AutoGptSettings,
    BashSettings,
    PaperSettings,
    TreeSettings,
    TunerSettings,
    read_research,
)
from mlagentbench.core import Record, UsageError


class AgentEntry(Record):
    """One agent: its name, its function and its settings."""

    name: str
    summary: str
    target: str
    """`module:function`."""
    needs_model: bool = False
    read_settings: Callable[[Mapping[str, str]], AgentSettings] | None = Field(
        AgentSettings.read, exclude=True
    )
    """Validates `-A` settings; None for an outside agent, which reads its own."""

    def check_settings(self, given: Mapping[str, str]) -> None:
        """Raise a UsageError if the agent cannot take these settings."""
        if self.read_settings is not None:
            self.read_settings(given)


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
            read_settings=TunerSettings.read,
        ),
        AgentEntry(
            name="act",
            summary="asks a model for one action after another: the paper's Act",
            target="mlagentbench.agents.paper.paper_agents:act",
            needs_model=True,
            read_settings=PaperSettings.read,
        ),
        AgentEntry(
            name="react",
            summary="a thought before each action: the paper's ReAct",
            target="mlagentbench.agents.paper.paper_agents:react",
            needs_model=True,
            read_settings=PaperSettings.read,
        ),
        AgentEntry(
            name="research",
            summary="plans, experiments and keeps what helps; -A style=classic is the"
            " paper's research agent",
            target="mlagentbench.agents.research.agent:research",
            needs_model=True,
            read_settings=read_research,
        ),
        AgentEntry(
            name="autogpt",
            summary="AutoGPT's loop: thoughts, plan, criticism, then a command",
            target="mlagentbench.agents.autogpt:autogpt",
            needs_model=True,
            read_settings=AutoGptSettings.read,
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
            read_settings=TreeSettings.read,
        ),
        AgentEntry(
            name="bash",
            summary="the smallest modern scaffold: a model with a shell",
            target="mlagentbench.agents.bash:bash",
            needs_model=True,
            read_settings=BashSettings.read,
        ),
    )
}


def find_agent(name: str) -> AgentEntry:
    """Return the entry of a name, or one for an outside `module:function`."""
    if ":" in name:
        return AgentEntry(
            name=name, summary="an outside agent", target=name, read_settings=None
        )
    if name not in AGENTS:
        if near := difflib.get_close_matches(name, AGENTS, n=3):
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = (
                "run `mlab agents` to list agents, or pass your own as module:function"
            )
        raise UsageError(f"unknown agent '{name}'; {hint}")
    return AGENTS[name]


def usual_agent(model: str | None) -> str:
    """Return the default agent: one that fits the given model, if there is one."""
    return "tuner" if model is None else "research"


def refuse_without_model(entry: AgentEntry, *, model: bool) -> None:
    """Raise a UsageError if an agent needs a model and there is none."""
    if entry.needs_model and not model:
        raise UsageError(
            f"the agent {entry.name} needs a language model: add --model local for a"
            " small one that runs here, or a provider's, such as --model openai/NAME"
        )


def load_agent(entry: AgentEntry) -> Agent:
    """Import the function of an agent."""
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
