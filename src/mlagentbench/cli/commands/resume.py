"""`mlab resume`: continue after a crash, or from an earlier step."""

from pathlib import Path

import click

from mlagentbench.cli.options import (
    json_option,
    named_agent_option,
    read_model_args,
    select_runs,
    task_path_option,
    total_options,
)
from mlagentbench.cli.output import say
from mlagentbench.core import UsageError


@click.command("resume")
@click.argument("experiment", metavar="EXP[:NAME]")
@click.option(
    "--from-step",
    metavar="K",
    type=click.IntRange(1),
    help="Fork the run after step K. Needs --as.",
)
@click.option(
    "--as", "new", metavar="DIR", type=Path, help="Folder of the forked experiment."
)
@click.option(
    "--model", metavar="MODEL", help="Model of the fork. Default: the model of the run."
)
@click.option("--crashed", is_flag=True, help="Also run crashed runs again.")
@task_path_option
@named_agent_option
@click.option(
    "-M",
    "model_args",
    multiple=True,
    metavar="KEY=VALUE",
    help="Model argument of the recorded runs that you trust. Can be repeated.",
)
@total_options[0]
@total_options[1]
@json_option
def command(
    *,
    experiment: str,
    from_step: int | None,
    new: Path | None,
    crashed: bool,
    model: str | None,
    task_path: tuple[Path, ...],
    agents: tuple[str, ...],
    model_args: tuple[str, ...],
    max_total_cost: float | None,
    max_total_hours: float | None,
    as_json: bool,
) -> int:
    """Resume the unfinished runs of an experiment.

    Finished runs stay as they are. NAME picks the run to fork. The folder may come
    from anybody, so name the code outside this package that its runs use.
    """
    from mlagentbench.cli.console import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.experiment import Experiment, Named, TotalLimits
    from mlagentbench.run import check_models, full_model_name, resume

    named = Named(
        task_paths=task_path, agents=agents, model_args=read_model_args(model_args)
    )
    found, runs = select_runs(experiment, named=named)
    if (from_step is None) != (new is None):
        raise UsageError("a fork needs both --from-step K and --as DIR")
    if from_step is not None and new is not None:
        if len(runs) > 1:
            raise UsageError(f"name the run to fork: {experiment}:RUN")
        model = None if model is None else full_model_name(model)
        spec = found.forked_spec(runs[0], model)
        found.require_agent()
        if spec.model_args:
            found.require_models()
        check_models(spec)
        target = Experiment(new, named)
        found.fork(runs[0], from_step, target, model)
        found = target
    elif model is not None:
        raise UsageError(
            "only a fork can use another model: add --from-step K and --as NEW"
        )
    total = TotalLimits(cost_usd=max_total_cost, hours=max_total_hours)
    with Screen(found) as screen:
        went_on = resume(
            found, crashed=crashed, total=total, progress=screen, observer=screen
        )
    if not went_on and not as_json:
        say(f"all runs of {found.folder} are finished; nothing to resume")
        return 0
    if went_on:
        save_report(found, open_it=False)
    return print_outcome(found, as_json=as_json)
