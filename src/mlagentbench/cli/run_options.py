"""The flags of `mlab run`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mlagentbench.cli.arguments import edition_option, json_option
from mlagentbench.cli.judge_options import votes_option
from mlagentbench.cli.price_options import prices_option

Command = Callable[..., Any]

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
    edition_option,
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
    json_option,
)


def run_options(command: Command) -> Command:
    """Add every flag of `mlab run`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
