"""`mlab measure`: measure the scores of starter and reference."""

import click

from mlagentbench.cli.console import Screen, print_table
from mlagentbench.cli.options import (
    chosen_tasks,
    edition_option,
    json_option,
    refuse_too_many,
    task_arguments,
)
from mlagentbench.cli.output import print_json


@click.command("measure")
@task_arguments
@edition_option
@click.option(
    "--runs",
    metavar="N",
    default=8,
    show_default=True,
    type=click.IntRange(2),
    help="Runs of each solution.",
)
@click.option(
    "--parallel",
    metavar="N",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Number of parallel runs, at most the number of cores.",
)
@json_option
def command(
    *,
    tasks: tuple[str, ...],
    every: bool,
    edition: str,
    runs: int,
    parallel: int,
    as_json: bool,
) -> None:
    """Measure starter, tuning baseline and reference.

    Writes their scores to measured.json in the task's folder.
    """
    from mlagentbench.core import default_cache
    from mlagentbench.report import number
    from mlagentbench.run import PipelineBench, measure_task
    from mlagentbench.tasks import write_measured

    refuse_too_many(parallel)
    found = {}
    for task in chosen_tasks(tasks, edition=edition, every=every):
        with Screen() as screen:
            bench = PipelineBench(default_cache(), screen)
            found[task.name] = measure_task(task, bench, runs=runs, parallel=parallel)
        write_measured(task.folder, task.edition, found[task.name])
    if as_json:
        print_json({name: one.model_dump(mode="json") for name, one in found.items()})
        return
    rows = [
        [name, solution, number(known.mean), number(known.sd), str(known.n)]
        for name, one in found.items()
        for solution, known in {
            "starter": one.starter,
            "tuned": one.tuned,
            "reference": one.reference,
        }.items()
        if known is not None
    ]
    print_table(["task", "solution", "mean", "sd", "runs"], rows)
