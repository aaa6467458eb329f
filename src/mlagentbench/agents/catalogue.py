"""The agents by name; the module of an agent is imported only when it is used."""

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
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
from mlagentbench.core import Record, UsageError, did_you_mean
from mlagentbench.tasks import files_digest

ReadSettings = Callable[[Mapping[str, str]], AgentSettings]


class AgentEntry(Record):
    """One agent: its name, its function and its settings."""

    name: str
    summary: str
    target: str
    """`module:function`."""
    needs_model: bool = False
    read_settings: ReadSettings | None = Field(None, exclude=True)
    """Validates `-A` settings; None for an outside agent, which reads its own."""

    @property
    def is_outside(self) -> bool:
        """Whether it is a user's function, which runs in a process of its own."""
        return ":" in self.name

    @property
    def may_use_model(self) -> bool:
        """False for agents that never call a model; an outside agent may."""
        return self.needs_model or self.read_settings is None

    def check_settings(self, given: Mapping[str, str]) -> None:
        """Raise a UsageError if the agent cannot take these settings."""
        if self.read_settings is not None:
            self.read_settings(given)


def _entry(
    target: str,
    summary: str,
    read: ReadSettings = AgentSettings.read,
    *,
    needs_model: bool = True,
) -> AgentEntry:
    return AgentEntry(
        name=target.partition(":")[2],
        summary=summary,
        target=f"mlagentbench.agents.{target}",
        needs_model=needs_model,
        read_settings=read,
    )


_ENTRIES = (
    _entry(
        "baselines:starter",
        "runs the starter as shipped and submits: the paper's Baseline",
        needs_model=False,
    ),
    _entry(
        "baselines:reference",
        "submits the known good solution: what is possible",
        needs_model=False,
    ),
    _entry(
        "tuner:tuner",
        "searches the starter's number constants with Optuna, no model",
        TunerSettings.read,
        needs_model=False,
    ),
    _entry(
        "paper.paper_agents:act",
        "asks a model for one action after another: the paper's Act",
        PaperSettings.read,
    ),
    _entry(
        "paper.paper_agents:react",
        "a thought before each action: the paper's ReAct",
        PaperSettings.read,
    ),
    _entry(
        "research.agent:research",
        "plans, experiments and keeps what helps; -A style=classic is the"
        " paper's research agent",
        read_research,
    ),
    _entry(
        "autogpt:autogpt",
        "AutoGPT's loop: thoughts, plan, criticism, then a command",
        AutoGptSettings.read,
    ),
    _entry(
        "langchain:langchain",
        "LangChain's own agent on our actions, through Inspect's bridge",
    ),
    _entry(
        "tree:tree",
        "grows a tree of scripts: draft, debug, improve the best",
        TreeSettings.read,
    ),
    _entry(
        "bash:bash",
        "the smallest modern scaffold: a model with a shell",
        BashSettings.read,
    ),
)
AGENTS = {entry.name: entry for entry in _ENTRIES}

TEMPLATE = Path(__file__).with_name("new_agent.py")
"""An outside agent to start an own one from."""


def find_agent(name: str) -> AgentEntry:
    """Return the entry of a name, or one for an outside `module:function`."""
    if ":" in name:
        return AgentEntry(name=name, summary="an outside agent", target=name)
    if name not in AGENTS:
        hint = "run `mlab agents` to list agents, or pass your own as module:function"
        raise UsageError(f"unknown agent '{name}'; {did_you_mean(name, AGENTS, hint)}")
    return AGENTS[name]


_NAME = re.compile(r"\w[\w .+-]{0,59}")


def check_name(name: str | None, entry: AgentEntry) -> None:
    """Raise a UsageError if an agent cannot be called `name` in run ids and tables."""
    if name is None:
        return
    if not _NAME.fullmatch(name) or name != name.strip():
        raise UsageError(
            f"{name!r} is not a name for an agent; use at most 60 letters, digits,"
            " spaces and the characters . _ + -"
        )
    if name in AGENTS and name != entry.name:
        raise UsageError(f"{name} is another agent's name; choose another --name")


def code_digest(entry: AgentEntry) -> str:
    """Return the digest of an outside agent's code; empty for a shipped agent.

    It covers the module's file. If the file is in a package, it covers every Python
    file of the package's folder. Nothing is imported. Code that has no file, such as
    that of a notebook, has no digest.
    """
    if entry.name in AGENTS:
        return ""
    origin = _module_file(entry.target.partition(":")[0])
    if origin is None:
        return ""
    folder = origin.parent
    in_package = (folder / "__init__.py").is_file()
    return files_digest(folder, folder.rglob("*.py") if in_package else (origin,))


def _module_file(name: str) -> Path | None:
    """Find the file of a module, without importing the packages above it."""
    places = None
    found = None
    for part in _prefixes(name):
        finders = (getattr(one, "find_spec", None) for one in sys.meta_path)
        specs = (find(part, places) for find in finders if find is not None)
        found = next(filter(None, specs), None)
        if found is None:
            return None
        places = found.submodule_search_locations
    origin = Path(found.origin) if found and found.origin else None
    return origin if origin and origin.is_file() else None


def _prefixes(name: str) -> list[str]:
    """Return `a`, `a.b` and `a.b.c` of `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def usual_agent(model: str | None) -> str:
    """Return the default agent: one that fits the given model, if there is one."""
    return "tuner" if model is None else "research"


def refuse_without_model(entry: AgentEntry, *, model: bool) -> None:
    """Raise a UsageError if an agent needs a model and there is none."""
    if entry.needs_model and not model:
        raise UsageError(
            f"agent {entry.name} needs a language model; add --model local for a small"
            " one that runs on this machine, or PROVIDER/NAME such as openai/gpt-4o"
        )


def load_agent(entry: AgentEntry) -> Agent:
    """Import the function of an agent."""
    module_name, _, function_name = entry.target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"cannot import '{missing.name}' for agent {entry.name};"
            " put its folder on PYTHONPATH or install it"
        ) from missing
    if not callable(function := getattr(module, function_name, None)):
        raise UsageError(f"{module_name} has no function '{function_name}'")
    return cast("Agent", function)
