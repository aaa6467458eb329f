"""`mlab resume`: go on after a crash, or from an earlier step."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.options import json_option
from mlagentbench.core import UsageError

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment


@click.command("resume")
@click.argument("experiment", metavar="EXP[:NAME]")
@click.option("--from-step", type=click.IntRange(1), help="Fork after this step.")
@click.option("--as", "new", type=Path, help="The new experiment's folder.")
@json_option
def command(
    *, experiment: str, from_step: int | None, new: Path | None, as_json: bool
) -> int:
    """Go on with every run of EXP that was cut off; finished ones stay as they are."""
    from mlagentbench.cli.console import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.run import resume

    found = _experiment(experiment, from_step, new)
    with Screen() as screen:
        went_on = resume(found, progress=screen, observer=screen)
    if not went_on:
        click.echo(f"every run of {found.folder} is finished; nothing to resume")
        return 0
    report = save_report(found, open_it=False)
    return print_outcome(found, report, as_json=as_json)


def _experiment(text: str, step: int | None, new: Path | None) -> "Experiment":
    from mlagentbench.cli.options import select_runs
    from mlagentbench.experiment import Experiment

    found, runs = select_runs(text)
    if step is None and new is None:
        return found
    if step is None or new is None:
        raise UsageError("a fork takes both --from-step K and --as NEW")
    if len(runs) > 1:
        raise UsageError(f"name the run to fork: {text}:RUN")
    target = Experiment(new)
    found.fork(runs[0], step, target)
    return target
