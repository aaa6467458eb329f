"""The flags of `mlab run`, and how their text is read."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mlagentbench.core.errors import UsageError

Command = Callable[..., Any]

_POSITIVE = click.FloatRange(0, min_open=True)
_FOLDER = click.Path(file_okay=False, path_type=Path)

_OPTIONS = (
    click.option(
        "--agent",
        default="tuner",
        show_default=True,
        envvar="MLAB_AGENT",
        help="A name from `mlab agents`, or module:function.",
    ),
    click.option(
        "--model",
        envvar="MLAB_MODEL",
        help="A model by Inspect's name, for agents that need one.",
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
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"-A takes KEY=VALUE, not '{pair}'")
        settings[key] = value
    return settings


def refuse_too_many(parallel: int) -> None:
    """Refuse more runs at a time than there are cores: they would not be fair."""
    cores = len(os.sched_getaffinity(0))
    if parallel > cores:
        raise UsageError(
            f"--parallel {parallel} is more than this machine's {cores} cores;"
            " runs that share a core are not comparable"
        )
