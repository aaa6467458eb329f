"""The flags of `mlab run`, and how their text is read."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mlagentbench.cli.judge_options import JUDGE, votes_option
from mlagentbench.cli.price_options import prices_option
from mlagentbench.core.errors import UsageError

Command = Callable[..., Any]

ROLES = ("editor", "helper")
"""Parts of an agent's work that another model may do."""

_POSITIVE = click.FloatRange(0, min_open=True)
_FOLDER = click.Path(file_okay=False, path_type=Path)

_OPTIONS = (
    click.option(
        "--agent",
        envvar="MLAB_AGENT",
        help="A name from `mlab agents`, or module:function; `research` with a model,"
        " else `tuner`, where none is given.",
    ),
    click.option(
        "--model",
        envvar="MLAB_MODEL",
        help="A model by Inspect's name, or `local`, for agents that need one.",
    ),
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="ROLE=MODEL",
        help="Another model for a part of the work: editor or helper; or one that is"
        " asked for its opinion of each run afterwards: judge.",
    ),
    votes_option,
    click.option(
        "-M",
        "model_args",
        multiple=True,
        metavar="KEY=VALUE",
        help="A setting of the model's provider, by Inspect's name for it.",
    ),
    click.option(
        "--max-retries",
        default=5,
        show_default=True,
        type=click.IntRange(0),
        envvar="MLAB_MAX_RETRIES",
        help="How often a failed request to a model is sent again.",
    ),
    click.option(
        "--attempt-timeout",
        default=600,
        show_default=True,
        type=click.IntRange(1),
        envvar="MLAB_ATTEMPT_TIMEOUT",
        help="Seconds one request to a model may take.",
    ),
    click.option("--edition", default="mini", show_default=True, envvar="MLAB_EDITION"),
    click.option(
        "--runs",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        envvar="MLAB_RUNS",
        help="Runs per task, with seeds from --seed on.",
    ),
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=click.IntRange(0),
        envvar="MLAB_SEED",
        help="The first run's seed.",
    ),
    click.option(
        "--max-steps",
        type=click.IntRange(1),
        envvar="MLAB_MAX_STEPS",
        help="Steps a run may take instead of the task's own number.",
    ),
    click.option(
        "--max-minutes",
        type=_POSITIVE,
        envvar="MLAB_MAX_MINUTES",
        help="Minutes of work a run may take instead of the task's own number.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(1),
        envvar="MLAB_MAX_TOKENS",
        help="Tokens of all models together that a run may use.",
    ),
    click.option(
        "--max-cost",
        type=_POSITIVE,
        envvar="MLAB_MAX_COST",
        help="Dollars a run may spend on models.",
    ),
    prices_option,
    click.option(
        "--parallel",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        envvar="MLAB_PARALLEL",
        help="Runs at a time; at most the number of cores.",
    ),
    click.option(
        "--sandbox",
        default="auto",
        show_default=True,
        type=click.Choice(["auto", "bwrap"]),
        envvar="MLAB_SANDBOX",
    ),
    click.option(
        "--out",
        default="runs",
        show_default=True,
        type=_FOLDER,
        envvar="MLAB_OUT",
        help="Where experiments are kept.",
    ),
    click.option(
        "-A",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="A setting of the agent's own; may be given several times.",
    ),
    click.option(
        "--yes",
        is_flag=True,
        envvar="MLAB_YES",
        help="Do not ask before a long experiment.",
    ),
    click.option(
        "--open", "open_report", is_flag=True, help="Show the report in a browser."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
)


def run_options(command: Command) -> Command:
    """Add every flag of `mlab run`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_settings(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read `-A key=value`, given any number of times."""
    return _read_pairs("-A", "KEY=VALUE", pairs)


def read_model_args(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Read `-M key=value`; numbers and booleans are taken as such."""
    import yaml

    read = _read_pairs("-M", "KEY=VALUE", pairs)
    return {key: yaml.safe_load(value) for key, value in read.items()}


def read_roles(pairs: tuple[str, ...], model: str | None) -> dict[str, str]:
    """Read `--role role=model`; only parts of a main model's work can be shared."""
    roles = _read_pairs("--role", "ROLE=MODEL", pairs)
    roles.pop(JUDGE, None)
    if unknown := sorted(set(roles) - set(ROLES)):
        known = ", ".join((*ROLES, JUDGE))
        raise UsageError(f"there is no role '{unknown[0]}'; there are {known}")
    if roles and model is None:
        raise UsageError("--role needs --model too, the model that does the rest")
    return roles


def _read_pairs(flag: str, form: str, pairs: tuple[str, ...]) -> dict[str, str]:
    read: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise UsageError(f"{flag} takes {form}, not '{pair}'")
        read[key] = value
    return read


def refuse_too_many(parallel: int) -> None:
    """Refuse more runs at a time than there are cores: they would not be fair."""
    cores = len(os.sched_getaffinity(0))
    if parallel > cores:
        raise UsageError(
            f"--parallel {parallel} is more than this machine's {cores} cores;"
            " runs that share a core are not comparable"
        )
