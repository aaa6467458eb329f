"""`mlab workspace`: the files an agent starts from, to work on by other means."""

from pathlib import Path

import click

from mlagentbench.cli.options import edition_option
from mlagentbench.cli.output import say
from mlagentbench.tasks import load_task


@click.command("workspace")
@click.argument("task", metavar="TASK")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@edition_option
def command(*, task: str, folder: Path, edition: str) -> None:
    """Write the workspace of a task into a folder.

    DIR gets the starter, the public data, evaluate.py and the problem text, as an
    agent sees them. It must be new or empty. No sandbox is needed.
    """
    from mlagentbench.cli.console import Screen
    from mlagentbench.core import default_cache
    from mlagentbench.run import write_workspace

    found = load_task(task, edition=edition)
    with Screen() as screen:
        write_workspace(found, folder, default_cache(), screen)
    files = " and ".join(found.submission)
    say(f"wrote {folder}; read {folder / 'problem.md'} first")
    if found.hides_validation:
        say(f"to measure progress: mlab grade {task} {folder} --validation")
    say(f"when {files} is ready: mlab grade {task} {folder}")
