"""Flags and arguments commands share, and how they are read."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlagentbench.cli.preset import PRESETS, take_preset
from mlagentbench.core import Task, UsageError, usable_cores
from mlagentbench.tasks import editions_of, load_task, paper_task_ids, task_ids

if TYPE_CHECKING:
    from mlagentbench.core import RunId
    from mlagentbench.experiment import Experiment, Judge, Named
    from mlagentbench.study import Study

Command = Callable[..., Any]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON document."
)


def option(flag: str, text: str, **attributes: Any) -> Command:  # noqa: ANN401  # click's
    """Return an option that `MLAB_FLAG` sets too."""
    variable = flag.replace("--", "MLAB_").replace("-", "_").upper()
    shown = "default" in attributes
    return click.option(
        flag, help=text, envvar=variable, show_default=shown, **attributes
    )


edition_option = option(
    "--edition", "Edition of the tasks.", metavar="NAME", default="mini"
)

out_option = option(
    "--out",
    "Folder in which experiments are stored.",
    metavar="DIR",
    default="runs",
    type=click.Path(file_okay=False, path_type=Path),
)


def task_arguments(command: Command) -> Command:
    """Add `TASK... | --all`."""
    command = click.option("--all", "every", is_flag=True, help="All tasks.")(command)
    return click.argument("tasks", nargs=-1, metavar="TASK...")(command)


def chosen_names(
    tasks: tuple[str, ...], *, every: bool, suite: str | None = None
) -> tuple[str, ...]:
    """Return the task names meant by `TASK... | --all | --suite NAME`."""
    if [bool(tasks), every, suite is not None].count(True) > 1:
        raise UsageError("name tasks or pass --all or --suite, not both")
    if tasks:
        return tuple(dict.fromkeys(tasks))
    if suite == "paper":
        return tuple(paper_task_ids())
    if not every and suite is None:
        raise UsageError("name a task or pass --all; run `mlab tasks` to list tasks")
    return tuple(task_ids())


def chosen_tasks(tasks: tuple[str, ...], *, edition: str, every: bool) -> list[Task]:
    """Load the tasks meant by `TASK... | --all`."""
    names = chosen_names(tasks, every=every)
    # Every task has the edition mini.
    if every and edition != "mini":
        names = tuple(name for name in names if edition in editions_of(name))
        if not names:
            raise UsageError(f"no task has an edition {edition!r}; try --edition mini")
    return [load_task(name, edition=edition) for name in names]


_POSITIVE = click.FloatRange(0, min_open=True)
_COUNT = click.IntRange(1)

USUAL_VOTES = 3

votes_option = click.option(
    "--votes",
    metavar="N",
    type=click.IntRange(1, 99),
    help=f"Votes of the LLM judge per run. Default: {USUAL_VOTES}.",
)

total_options = (
    option(
        "--max-total-cost",
        "Model cost of all runs after which no new run starts.",
        metavar="DOLLARS",
        type=_POSITIVE,
    ),
    option(
        "--max-total-hours",
        "Hours after which no new run starts.",
        metavar="HOURS",
        type=_POSITIVE,
    ),
)

prices_option = option(
    "--prices",
    "TOML file with a table for each model: input, output, cached_read and"
    " cached_write, in dollars per million tokens.",
    type=click.Path(dir_okay=False, path_type=Path),
)

_OPTIONS = (
    option(
        "--suite",
        "Tasks to run: `paper` for the 13 tasks of the paper, or `all`.",
        type=click.Choice(["paper", "all"]),
    ),
    option(
        "--preset",
        "Defaults for other options. `paper`: agent research with -A style=classic, 50"
        " steps, 300 minutes, 8 runs, and --suite paper if no task is named.",
        type=click.Choice(list(PRESETS)),
        callback=take_preset,
        is_eager=True,
    ),
    option(
        "--agent",
        "Agent name (see `mlab agents`) or module:function. Default: research if"
        " --model is given, otherwise tuner. Can be repeated.",
        metavar="NAME",
        multiple=True,
    ),
    option(
        "--name",
        "Name of the agent in run ids and tables. Default: the value of --agent.",
        metavar="NAME",
    ),
    option(
        "--model",
        "Language model as PROVIDER/NAME, for example openai/gpt-4o, or `local`. Can"
        " be repeated.",
        metavar="MODEL",
        multiple=True,
    ),
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="ROLE=MODEL",
        help="Model for one role: editor or helper do a part of the agent's work,"
        " judge rates finished runs. Can be repeated.",
    ),
    votes_option,
    click.option(
        "-M",
        "model_args",
        multiple=True,
        metavar="KEY=VALUE",
        help="Argument of the model provider, by Inspect's name. Can be repeated.",
    ),
    option(
        "--max-retries",
        "Retries of a failed model request.",
        metavar="N",
        default=5,
        type=click.IntRange(0),
    ),
    option(
        "--attempt-timeout",
        "Time limit of one model request.",
        metavar="SECONDS",
        default=600,
        type=_COUNT,
    ),
    edition_option,
    option("--runs", "Runs per task.", metavar="N", default=1, type=_COUNT),
    option(
        "--seed",
        "Seed of the first run; each further run adds 1.",
        metavar="N",
        default=0,
        type=click.IntRange(0),
    ),
    option(
        "--max-steps",
        "Maximum steps per run. Default: the task's budget.",
        metavar="N",
        type=_COUNT,
    ),
    option(
        "--max-minutes",
        "Maximum minutes of work per run. Default: the task's budget.",
        metavar="MINUTES",
        type=_POSITIVE,
    ),
    option(
        "--max-wall-minutes",
        "Maximum wall time per run. Default: twice --max-minutes plus 10.",
        metavar="MINUTES",
        type=_POSITIVE,
    ),
    option(
        "--max-tokens",
        "Maximum tokens per run, of all models together.",
        metavar="N",
        type=_COUNT,
    ),
    option(
        "--max-cost",
        "Maximum model cost per run.",
        metavar="DOLLARS",
        type=_POSITIVE,
    ),
    *total_options,
    prices_option,
    option(
        "--parallel",
        "Number of parallel runs, at most the number of cores.",
        metavar="N",
        default=1,
        type=_COUNT,
    ),
    out_option,
    click.option(
        "-A",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Setting of the agent. Can be repeated.",
    ),
    option("--yes", "Start long or costly experiments without asking.", is_flag=True),
    click.option(
        "--open", "open_report", is_flag=True, help="Open the report in a browser."
    ),
    json_option,
)


def run_options(command: Command) -> Command:
    """Add every flag of `mlab run`."""
    for add in reversed(_OPTIONS):
        command = add(command)
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
                f" put quotes around the value: -M '{key}=\"...\"'"
            ) from error
    return read


def read_roles(pairs: tuple[str, ...], model: str | None) -> dict[str, str]:
    """Read `--role role=model`; only parts of a main model's work can be shared."""
    roles = read_pairs("--role", "ROLE=MODEL", pairs)
    roles.pop(JUDGE, None)
    if unknown := sorted(set(roles) - set(ROLES)):
        known = ", ".join((*ROLES, JUDGE))
        raise UsageError(f"unknown role '{unknown[0]}'; choose from: {known}")
    if roles and model is None:
        raise UsageError("--role also needs --model, the agent's main model")
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
    for add in (_AGAIN, votes_option, _ROLE):
        command = add(command)
    return command


def read_judge(pairs: tuple[str, ...], votes: int | None) -> "Judge | None":
    """Read `--role judge=MODEL`, with how often it is asked."""
    from mlagentbench.experiment import Judge
    from mlagentbench.run import check_local, full_model_name

    parts = [pair.partition("=") for pair in pairs]
    named = [model for role, _, model in parts if role == JUDGE]
    if not named:
        if votes is not None:
            raise UsageError("--votes also needs --role judge=MODEL")
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
    help="Model that rates each run. Its ratings change no score.",
)
_AGAIN = click.option(
    "--again", is_flag=True, help="Ask the judge again for votes that exist already."
)


task_path_option = option(
    "--task-path",
    "Folder of a task outside the suite that you trust. Can be repeated.",
    metavar="DIR",
    multiple=True,
    type=click.Path(file_okay=False, exists=True, path_type=Path),
)

named_agent_option = click.option(
    "--agent",
    "agents",
    metavar="MODULE:FUNCTION",
    multiple=True,
    help="Outside agent of the recorded runs that you trust. Can be repeated.",
)


def select_runs(
    text: str, run: str | None = None, named: "Named | None" = None
) -> "tuple[Experiment, list[RunId]]":
    """Return the experiment and those of its runs that NAME or `run` picks."""
    from mlagentbench.experiment import Experiment

    folder, name = split(text)
    name = run or name
    experiment = Experiment(Path(folder), named)
    known = experiment.known_runs() or experiment.runs()
    runs = [
        one for one in known if name in ("", str(one), one.agent, one.model, one.task)
    ]
    if not runs:
        listed = ", ".join(map(str, known))
        raise UsageError(
            f"{folder} has no run, agent or model '{name}'; its runs: {listed}"
        )
    return experiment, runs


def split(text: str) -> tuple[str, str]:
    """Return the address of an experiment or study, and NAME, which may be empty."""
    # Folders and models may have colons in their names; the longest folder wins.
    start = text.find("://") + 3 if "://" in text else 1
    colons = [at for at, mark in enumerate(text) if at >= start and mark == ":"]
    for end in [len(text), *reversed(colons)]:
        address, name = text[:end], text[end + 1 :]
        if _is_store(address) if "://" in text else Path(address).is_dir():
            return address, name
    raise UsageError(f"{text} is not an experiment or a study: no such folder")


def _is_store(address: str) -> bool:
    from mlagentbench.study import open_study

    try:
        open_study(address)
    except UsageError:
        return False
    return True


def is_study(address: str) -> bool:
    """Return whether an address is that of a study; object stores hold only these."""
    return "://" in address or (Path(address) / "study.json").is_file()


def open_results(
    address: str, task_paths: tuple[Path, ...] = ()
) -> "Experiment | Study":
    """Open an experiment's folder, or a study's folder or object store."""
    if is_study(address):
        from mlagentbench.study import open_study

        return open_study(address, task_paths)
    from mlagentbench.experiment import Experiment, Named

    return Experiment(Path(address), Named(task_paths=task_paths))
