"""`mlab view`: Inspect's own viewer on the logs."""

import os
import sys
from pathlib import Path

import click

from mlagentbench.core import UsageError


@click.command("view")
@click.argument("folder", default=Path("runs"), metavar="[DIR]", type=Path)
@click.option("--port", default=7575, show_default=True, type=int)
def command(*, folder: Path, port: int) -> None:
    """Open Inspect's log viewer."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `mlab run` makes one")
    viewer = [sys.executable, "-m", "inspect_ai", "view", "start"]
    where = ["--log-dir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    # The viewer replaces this process. So every signal reaches it, and it cannot stay.
    os.execv(sys.executable, [*viewer, *where])
