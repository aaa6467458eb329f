"""`mlab new-task`: a small task to start an own one from."""

from pathlib import Path

import click

from mlagentbench.cli.output import say
from mlagentbench.tasks import KINDS, write_skeleton


@click.command("new-task")
@click.argument("name", metavar="NAME")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="tabular",
    show_default=True,
    help="Kind of the data, or code that is run on hidden inputs.",
)
def command(*, name: str, kind: str) -> None:
    """Write a small complete task into a new folder.

    The folder NAME passes `mlab check` as it is. Change its parts one by one, then
    run `mlab measure` and `mlab check` again.
    """
    write_skeleton(name, kind, Path(name))
    say(f"wrote {name}/, a {kind} task; start with {name}/problem.md")
    say(f"  mlab check ./{name}")
    say(f"  mlab run ./{name} --agent tuner")
