"""The study file: TOML -> StudyFile, with errors that name the field.

Each `[[cells]]` table is the product of its tasks, editions, agents, models and seeds.
"""

import re
import shlex
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from mlagentbench.core import (
    Record,
    UsageError,
    did_you_mean,
    parse_toml,
    recording,
)
from mlagentbench.experiment import (
    BudgetOverride,
    Judge,
)
from mlagentbench.study.executor import Keep

MAX_CELLS = 100_000
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_table(key: str) -> BeforeValidator:
    """Return a validator that takes a name for a table with this field alone."""
    return BeforeValidator(lambda one: {key: one} if isinstance(one, str) else one)


def _as_seeds(value: object) -> object:
    if isinstance(value, list | tuple):
        return value
    if type(value) is not int or not 1 <= value <= MAX_CELLS:
        raise ValueError(f"give a number from 1 to {MAX_CELLS:,} or a list of seeds")
    return range(value)


def _as_setting(value: object) -> object:
    """Write a TOML value as `-A` gives it: always text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(min_length=1)]
Seeds = Annotated[
    tuple[NonNegativeInt, ...], BeforeValidator(_as_seeds), Field(min_length=1)
]
Setting = Annotated[str, BeforeValidator(_as_setting)]


class AgentChoice(Record):
    """An agent in `agents`; a name alone stands for a table with this name."""

    name: str
    """Name of the agent (see `mlab agents`), or module:function."""
    settings: dict[str, Setting] = Field(default_factory=dict)
    """The agent's settings, as -A takes them. Numbers and booleans become text."""
    label: str | None = None
    """Name of the agent in run ids and tables. Default: its name."""


class ModelChoice(Record):
    """A model in `models`; a name alone stands for a table with this model."""

    model: str
    """PROVIDER/NAME, or `local`."""
    roles: dict[str, str] = Field(default_factory=dict)
    """More roles, which are added to those of `[[cells]]`."""
    args: dict[str, Any] = Field(default_factory=dict)
    """More arguments, which are added to `model_args` of `[[cells]]`."""


class CellGroup(Record):
    """One `[[cells]]` table: the product of tasks, editions, agents, models, seeds."""

    tasks: Names
    """Names of tasks, paths of task folders from the folder of the file, `all`, or
    `paper` for the 13 tasks of the paper. One name alone may be a string."""
    agents: Annotated[
        tuple[Annotated[AgentChoice, _as_table("name")], ...],
        BeforeValidator(_as_list),
        Field(min_length=1),
    ]
    """Names of agents, or tables."""
    models: Annotated[
        tuple[Annotated[ModelChoice, _as_table("model")], ...],
        BeforeValidator(_as_list),
    ] = ()
    """Names of models, or tables. Agents that use no model ignore them."""
    editions: Names = ("mini",)
    """Editions of the tasks."""
    seeds: Seeds = (0,)
    """Number of seeds from 0 on, or a list of seeds."""
    limits: BudgetOverride = BudgetOverride()
    """Limits of each run. Agents that use no model ignore `tokens` and `cost_usd`."""
    roles: dict[str, str] = Field(default_factory=dict)
    """Models for the roles `editor`, `helper` and `judge`."""
    judge: Annotated[Judge, _as_table("model")] | None = None
    """LLM judge of the finished runs, with its votes; the same as the role `judge`."""
    model_args: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the model provider, by Inspect's names."""


class StudyFile(Record):
    """The contents of a study file."""

    name: Name
    """Name of the study: letters, digits, `.`, `_` and `-`."""
    cells: tuple[CellGroup, ...] = Field(min_length=1)
    """Tables `[[cells]]`; equal cells of several tables are one cell."""
    limits: BudgetOverride = BudgetOverride()
    """Limits of each run, unless `[[cells]]` has others."""
    keep: Keep = "best"
    """Snapshots that are kept of a finished run."""
    connections: dict[str, PositiveInt] = Field(default_factory=dict)
    """Most model requests at a time over all cells, by provider."""
    prices: str = ""
    """File with prices of models, from the folder of the study file."""


def read_study_file(path: Path) -> tuple[str, StudyFile]:
    """Return the text of a study file, and its contents."""
    try:
        text = path.read_text(encoding="utf-8")
        table = parse_toml(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    try:
        return text, StudyFile.model_validate(table)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A mistyped name of a field explains why a field is missing.
        errors.sort(key=lambda one: one["type"] != "extra_forbidden")
        raise UsageError(f"{path}: {_sentence(errors[0])}") from error


_TABLES: dict[str, type[Record]] = {
    "cells": CellGroup,
    "agents": AgentChoice,
    "models": ModelChoice,
    "limits": BudgetOverride,
    "judge": Judge,
}


def _sentence(error: ErrorDetails) -> str:
    """Return an error of the file's form: the field, and what it may be."""
    place = error["loc"]
    words = [f" {one + 1}" if isinstance(one, int) else f", {one}" for one in place]
    field = "".join(words).removeprefix(", ").replace("cells", "[[cells]]", 1)
    match error["type"]:
        case "missing":
            return f"{field} is missing"
        case "extra_forbidden":
            tables = [one for one in place[:-1] if isinstance(one, str)]
            known = _TABLES[tables[-1]] if tables else StudyFile
            fields = ", ".join(known.model_fields)
            hint = did_you_mean(str(place[-1]), known.model_fields, f"fields: {fields}")
            return f"{field} is not a field; {hint}"
        case "string_pattern_mismatch":
            return (
                f"{field} may not be {error['input']!r}: use at most 100 letters,"
                " digits and the characters . _ -"
            )
        case "too_short":
            return f"{field} may not be empty"
    message = (
        error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    )
    message = message.replace("a valid tuple", "a list").replace("a valid ", "a ")
    return f"{field} is {error['input']!r}: {message}"


TEMPLATE = Path(__file__).with_name("new_study.toml")
"""A commented study file, complete and without a model."""


def write_template(path: Path) -> None:
    """Write a new study file to start an own one from."""
    if path.suffix != ".toml":
        raise UsageError(f"a study file ends in .toml, unlike {path}")
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} already exists; choose another name")
    name = NOT_IN_NAMES.sub("-", path.stem).strip("-._") or "study"
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace('"NAME"', f'"{name}"').replace("FILE", shlex.quote(str(path)))
    with recording(path):
        path.write_text(text, encoding="utf-8")
