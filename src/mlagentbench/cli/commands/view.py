"""`mlab view`: Inspect's own viewer on the logs."""

import os
import sys
from pathlib import Path

import click

from mlagentbench.core import UsageError


@click.command("view")
@click.argument("folder", default=Path("runs"), metavar="[DIR]", type=Path)
@click.option(
    "--port",
    metavar="N",
    default=7575,
    show_default=True,
    type=int,
    help="Port of the viewer on this machine.",
)
def command(*, folder: Path, port: int) -> None:
    """Open Inspect's log viewer.

    Shows the logs of all experiments in DIR. Default: runs.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; `mlab run` writes to runs")
    viewer = [sys.executable, "-m", "inspect_ai", "view", "start"]
    where = ["--log-dir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    # The viewer replaces this process. So every signal reaches it, and it cannot stay.
    os.execv(sys.executable, [*viewer, *where])
