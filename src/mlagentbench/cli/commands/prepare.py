"""`mlab prepare`: download or build the data of tasks."""

import click

from mlagentbench.cli.console import Screen
from mlagentbench.cli.options import (
    chosen_tasks,
    edition_option,
    json_option,
    task_arguments,
)
from mlagentbench.cli.output import print_json, say


@click.command("prepare")
@task_arguments
@edition_option
@json_option
def command(
    *, tasks: tuple[str, ...], every: bool, edition: str, as_json: bool
) -> None:
    """Download or build task data into the cache.

    Data that is already in the cache is not built again.
    """
    from mlagentbench.core import default_cache
    from mlagentbench.run import make_ready

    made = {}
    with Screen() as screen:
        for task in chosen_tasks(tasks, edition=edition, every=every):
            ready = make_ready(task, default_cache(), screen)
            made[task.name] = str(ready.prepared.public.parent)
    if as_json:
        print_json(made)
        return
    say("\n".join(f"{name} is ready in {path}" for name, path in made.items()))
