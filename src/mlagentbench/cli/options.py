"""Flags and arguments commands share, and how they are read."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlagentbench.core import RunId, Task, UsageError, usable_cores
from mlagentbench.tasks import load_task, task_ids

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment, Judge

Command = Callable[..., Any]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)


def _option(flag: str, text: str, **attributes: Any) -> Command:  # noqa: ANN401  # click's
    """Return an option that `MLAB_FLAG` sets too."""
    variable = flag.replace("--", "MLAB_").replace("-", "_").upper()
    shown = "default" in attributes
    return click.option(
        flag, help=text, envvar=variable, show_default=shown, **attributes
    )


edition_option = _option("--edition", "Edition of the tasks.", default="mini")


def task_arguments(command: Command) -> Command:
    """Add `TASK... | --all`."""
    command = click.option("--all", "every", is_flag=True, help="Every task.")(command)
    return click.argument("tasks", nargs=-1, metavar="TASK...")(command)


def chosen_names(tasks: tuple[str, ...], *, every: bool) -> tuple[str, ...]:
    """Return the task names meant by `TASK... | --all`."""
    if every and tasks:
        raise UsageError("name tasks or give --all, not both")
    if not every and not tasks:
        raise UsageError("name a task, or give --all; `mlab tasks` lists them")
    return tuple(task_ids()) if every else tuple(dict.fromkeys(tasks))


def chosen_tasks(tasks: tuple[str, ...], *, edition: str, every: bool) -> list[Task]:
    """Load the tasks meant by `TASK... | --all`."""
    names = chosen_names(tasks, every=every)
    return [load_task(name, edition=edition) for name in names]


_POSITIVE = click.FloatRange(0, min_open=True)
_COUNT = click.IntRange(1)

USUAL_VOTES = 3

votes_option = click.option(
    "--votes",
    type=click.IntRange(1, 99),
    help=f"How often the judge is asked about each run.  [default: {USUAL_VOTES}]",
)

total_options = (
    _option(
        "--max-total-cost",
        "Dollars for the models of the whole experiment. Once they are spent, no new"
        " run starts; `mlab resume` continues.",
        type=_POSITIVE,
    ),
    _option(
        "--max-total-hours",
        "Hours after which no new run starts; `mlab resume` continues.",
        type=_POSITIVE,
    ),
)

prices_option = _option(
    "--prices",
    "A TOML file with a table for each model: input, output, cached_read and"
    " cached_write, in dollars per million tokens.",
    type=click.Path(dir_okay=False, path_type=Path),
)

_OPTIONS = (
    _option(
        "--agent",
        "A name from `mlab agents`, or module:function; `research` with a model,"
        " else `tuner`, where none is given.",
    ),
    _option(
        "--model", "A model by Inspect's name, or `local`, for agents that need one."
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
    _option(
        "--max-retries",
        "How often a failed request to a model is sent again.",
        default=5,
        type=click.IntRange(0),
    ),
    _option(
        "--attempt-timeout",
        "Seconds one request to a model may take.",
        default=600,
        type=_COUNT,
    ),
    edition_option,
    _option(
        "--runs", "Runs per task, with seeds from --seed on.", default=1, type=_COUNT
    ),
    _option("--seed", "The first run's seed.", default=0, type=click.IntRange(0)),
    _option(
        "--max-steps",
        "Steps a run may take instead of the task's own number.",
        type=_COUNT,
    ),
    _option(
        "--max-minutes",
        "Minutes of work a run may take instead of the task's own number.",
        type=_POSITIVE,
    ),
    _option(
        "--max-wall-minutes",
        "Minutes a run may take with all waiting. Default: twice the minutes of work"
        " plus 10.",
        type=_POSITIVE,
    ),
    _option(
        "--max-tokens",
        "Tokens of all models together that a run may use.",
        type=_COUNT,
    ),
    _option("--max-cost", "Dollars a run may spend on models.", type=_POSITIVE),
    *total_options,
    prices_option,
    _option(
        "--parallel",
        "Runs at a time; at most the number of cores.",
        default=1,
        type=_COUNT,
    ),
    _option(
        "--out",
        "Where experiments are kept.",
        default="runs",
        type=click.Path(file_okay=False, path_type=Path),
    ),
    click.option(
        "-A",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="A setting of the agent's own; may be given several times.",
    ),
    _option("--yes", "Do not ask before a long experiment.", is_flag=True),
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


ROLES = ("editor", "helper")
"""Parts of an agent's work that another model may do."""


def read_model_args(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Read `-M key=value`; numbers and booleans are taken as such."""
    import yaml

    read: dict[str, Any] = {}
    for key, value in read_pairs("-M", "KEY=VALUE", pairs).items():
        try:
            read[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(
                f"-M {key}={value} cannot be read as a number, a word or a list;"
                f" put the value in quotes of its own: -M '{key}=\"...\"'"
            ) from error
    return read


def read_roles(pairs: tuple[str, ...], model: str | None) -> dict[str, str]:
    """Read `--role role=model`; only parts of a main model's work can be shared."""
    roles = read_pairs("--role", "ROLE=MODEL", pairs)
    roles.pop(JUDGE, None)
    if unknown := sorted(set(roles) - set(ROLES)):
        known = ", ".join((*ROLES, JUDGE))
        raise UsageError(f"there is no role '{unknown[0]}'; there are {known}")
    if roles and model is None:
        raise UsageError("--role needs --model too, the model that does the rest")
    return roles


def read_pairs(flag: str, form: str, pairs: tuple[str, ...]) -> dict[str, str]:
    """Read an option that is given any number of times as `key=value`."""
    read: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or not value:
            raise UsageError(f"{flag} takes {form}, not '{pair}'")
        read[key] = value
    return read


def refuse_too_many(parallel: int) -> None:
    """Refuse more runs at a time than there are cores: they would not be fair."""
    cores = usable_cores()
    if parallel > cores:
        raise UsageError(
            f"--parallel {parallel} is more than this machine's {cores} cores;"
            " runs that share a core are not comparable"
        )


JUDGE = "judge"


def judge_options(command: Command) -> Command:
    """Add the flags of a command that asks nobody but a judge."""
    for option in (_AGAIN, votes_option, _ROLE):
        command = option(command)
    return command


def read_judge(pairs: tuple[str, ...], votes: int | None) -> "Judge | None":
    """Read `--role judge=MODEL`, with how often it is asked."""
    from mlagentbench.experiment import Judge
    from mlagentbench.run import check_local, full_model_name

    parts = [pair.partition("=") for pair in pairs]
    named = [model for role, _, model in parts if role == JUDGE]
    if not named:
        if votes is not None:
            raise UsageError("--votes needs a judge too: --role judge=MODEL")
        return None
    model = full_model_name(named[-1])
    check_local([model])
    return Judge(model=model, votes=votes or USUAL_VOTES)


def refuse_other_roles(pairs: tuple[str, ...]) -> None:
    """Refuse roles that have a part in a run, where no run is started."""
    for pair in pairs:
        role, _, model = pair.partition("=")
        if role != JUDGE or not model:
            raise UsageError(f"--role takes judge=MODEL here, not '{pair}'")


_ROLE = click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="judge=MODEL",
    help="A model that says what it thinks of each run; no score depends on it.",
)
_AGAIN = click.option(
    "--again", is_flag=True, help="Ask the judge again for votes it gave before."
)


def select_runs(text: str, run: str | None = None) -> "tuple[Experiment, list[RunId]]":
    """Return the experiment and those of its runs that NAME or `run` picks."""
    from mlagentbench.experiment import Experiment

    folder, name = split(text)
    name = run or name
    experiment = Experiment(folder)
    known = experiment.known_runs() or experiment.runs()
    runs = [
        one for one in known if name in ("", str(one), one.agent, one.model, one.task)
    ]
    if not runs:
        listed = ", ".join(map(str, known))
        raise UsageError(
            f"{folder} has no run, agent or model '{name}'; it has {listed}"
        )
    return experiment, runs


def split(text: str) -> tuple[Path, str]:
    """Return the experiment's folder and NAME, which may be empty."""
    # Folders and models may have colons in their names; the longest folder wins.
    colons = [at for at, mark in enumerate(text) if at and mark == ":"]
    for end in [len(text), *reversed(colons)]:
        if Path(text[:end]).is_dir():
            return Path(text[:end]), text[end + 1 :]
    raise UsageError(f"there is no experiment {text}; `mlab run` makes one")
