"""Settings of the agents (`-A key=value`): one model for each agent.

They import no engine, so that the catalogue can validate settings before a run.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args, get_origin

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo

from mlagentbench.core import Record, UsageError, truncate

PLAN = "Research Plan and Status"
THOUGHT = "Thought"
FIELDS = {
    "reflection": "Reflection",
    "plan": PLAN,
    "fact_check": "Fact Check",
    "thought": THOUGHT,
}
"""The fields of a reply before its action: short name to name, in the paper's order."""

_NO_FIELDS = "none"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def _read_fields(text: str) -> tuple[str, ...]:
    chosen = [] if text == _NO_FIELDS else [name.strip() for name in text.split(",")]
    if not set(chosen) <= set(FIELDS):
        raise ValueError(text)
    return tuple(field for name, field in FIELDS.items() if name in chosen)


ReplyFields = Annotated[tuple[str, ...], BeforeValidator(_read_fields)]
ProtocolChoice = Literal["text", "tools", "schema", "auto"]
Switch = Literal["on", "off"]
Ideas = Literal["off", "generic"]
"""Whether an agent is given the ideas for the task's modality, one for each trial."""


class AgentSettings(Record):
    """Settings of an agent that has none; the base of the others."""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Self:
        """Validate settings; raise a UsageError about the first that is invalid."""
        try:
            return cls.model_validate(dict(given))
        except ValidationError as invalid:
            key = str(invalid.errors()[0]["loc"][0])
        if key in cls.model_fields:
            expected = _expected(cls.model_fields[key])
            value = truncate(given[key], 80)
            raise UsageError(f"invalid value {value!r} for -A {key}; {expected}")
        known = ", ".join(cls.model_fields)
        has = f"its settings: {known}" if known else "it takes no settings"
        raise UsageError(f"this agent has no setting {key!r}; {has}")

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_fractions(cls, value: object, info: ValidationInfo) -> object:
        """Refuse `5.0` and `1_000` for an integer, which pydantic would take."""
        field = cls.model_fields[info.field_name or ""]
        if field.annotation is int and not _INTEGER.fullmatch(str(value)):
            raise ValueError(value)
        return value


def _expected(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return f"choose from: {', '.join(get_args(field.annotation))}"
    if field.annotation is int:
        least, most = field.metadata
        return f"give an integer from {least.ge:,} to {most.le:,}"
    return f"choose from: {', '.join(FIELDS)}, separated by commas, or {_NO_FIELDS}"


class TunerSettings(AgentSettings):
    """Settings of the tuner."""

    trials: int = Field(1_000, ge=0, le=1_000_000)


class BashSettings(AgentSettings):
    """Settings of the shell agent."""

    protocol: ProtocolChoice = "auto"
    context: int = Field(100_000, ge=1, le=10_000_000)
    """Tokens; a longer conversation is summarized."""


class AutoGptSettings(AgentSettings):
    """Settings of AutoGPT."""

    protocol: Literal["text", "schema", "auto"] = "auto"
    remembers: int = Field(6, ge=1, le=100)
    """Exchanges that are shown in full; older ones are summarized."""


class TreeSettings(AgentSettings):
    """Settings of the tree search."""

    ideas: Ideas = "off"
    drafts: int = Field(0, ge=0, le=20)
    """New scripts written before the best one is improved."""
    debug: int = Field(1, ge=0, le=5)
    """Attempts at fixing a script that fails."""


class PaperSettings(AgentSettings):
    """Settings of act and react, which the paper's research agent has too."""

    protocol: ProtocolChoice = "auto"
    max_agent_steps: int = Field(50, ge=1, le=10_000)
    """The agent's own limit, beside the budget of the run."""
    steps_in_context: int = Field(3, ge=1, le=10_000)
    """How many of the last steps the prompt shows."""
    observations_in_context: int = Field(3, ge=1, le=10_000)
    """How many of the last observations it shows; older ones become `<Done>`."""


_Style = Literal["classic", "modern"]


class ClassicSettings(PaperSettings):
    """Settings of the paper's research agent."""

    style: _Style = "classic"
    protocol: ProtocolChoice = "text"
    log: Switch = "off"
    """Whether it keeps a research log and reads it when steps leave the prompt."""
    fields: ReplyFields = tuple(FIELDS.values())


class ModernSettings(AgentSettings):
    """Settings of the research agent; the defaults are those for a large model."""

    style: _Style = "modern"
    protocol: ProtocolChoice = "auto"
    log: Switch = "on"
    fields: ReplyFields = (PLAN, THOUGHT)
    actions: Literal["few", "many"] = "many"
    """With few, the model only edits one script, which every edit executes."""
    context: int = Field(100_000, ge=1, le=10_000_000)
    """Tokens; a longer conversation is summarized."""
    ideas: Ideas = "off"
    patience: int = Field(1_000, ge=1, le=1_000)
    """Trials in a row without improvement after which the best is submitted."""


SMALL_MODEL = {
    "log": "off",
    "fields": "thought",
    "actions": "few",
    "context": "5000",
    "patience": "6",
}
"""Defaults of `ModernSettings` for a small model."""


def read_research(given: Mapping[str, str]) -> ClassicSettings | ModernSettings:
    """Validate the settings of the research agent in the chosen style."""
    if given.get("style") == "classic":
        return ClassicSettings.read(given)
    return ModernSettings.read(given)
