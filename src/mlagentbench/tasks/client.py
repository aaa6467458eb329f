"""Run a package registry's own client and follow how far it is."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mlagentbench.core.progress import Progress

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_FAILURE = re.compile(r"(?:ERROR:|npm error|npm ERR!)\s*(.+)", re.IGNORECASE)


class ClientError(Exception):
    """The client could not be run, or failed; its text is the cause in short."""

    def __init__(self, cause: str, output: str = "") -> None:
        super().__init__(cause)
        self.output = output
        """All the client said."""


def run_client(
    command: Sequence[str], folder: Path, label: str, progress: Progress
) -> None:
    """Run `command` in `folder` to its end."""
    progress.start(f"asking for {label}", None)
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            output = _follow(process, label, progress)
        finally:
            process.kill()
    if process.returncode != 0:
        raise ClientError(_cause(output), output)


def _follow(process: subprocess.Popen[str], label: str, progress: Progress) -> str:
    lines: list[str] = []
    done: int | None = None
    for line in process.stdout or ():
        report = _PROGRESS.match(line)
        if report is None:
            lines.append(line)
            continue
        if done is None:
            progress.start(f"fetching {label}", int(report[2]))
        progress.advance(int(report[1]) - (done or 0))
        done = int(report[1])
    process.wait()
    return "".join(lines)


def _cause(output: str) -> str:
    failures = _FAILURE.findall(output)
    said = [line.strip() for line in output.splitlines() if line.strip()]
    return next(iter(failures[:1] or said[-1:]), "its client failed without a word")
