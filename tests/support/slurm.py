"""A real Slurm on this machine: two nodes of one CPU each."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

_TOOL = Path(__file__).parents[2] / "tools" / "slurm_on_loopback"


@contextmanager
def slurm_on_loopback(nodes: int = 2) -> Iterator[Path]:
    """Start Slurm in a new folder; commands of Slurm find it by `SLURM_CONF`."""
    # Names of sockets must be short, so the folder is not one of pytest.
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/var/tmp") as name:
        settings = {
            "SLURM_LOOPBACK_DIR": name,
            "SLURM_LOOPBACK_NODES": str(nodes),
            "SLURM_LOOPBACK_WATCH": str(os.getpid()),
        }
        environment = os.environ | settings
        subprocess.run([_TOOL, "start"], env=environment, check=True)
        try:
            with patch.dict(os.environ, SLURM_CONF=f"{name}/slurm.conf"):
                yield Path(name)
        finally:
            subprocess.run([_TOOL, "stop"], env=environment, check=True)


def slurm(*command: object) -> str:
    """Return the output of a command of Slurm."""
    done = subprocess.run(
        list(map(str, command)), check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def jobs(columns: str = "%i %t") -> list[list[str]]:
    """Return the given columns of all jobs that have not ended."""
    lines = slurm("squeue", "-h", "--array", f"--format={columns}").splitlines()
    return [line.split() for line in lines]


def reply_if_keyed(messages: list[Any]) -> dict[str, Any]:
    """A scripted model that has the key of the file alone, not that of the driver."""
    if "STUDY_TEST_KEY" not in os.environ or "ANOTHER_TEST_KEY" in os.environ:
        raise RuntimeError("wrong keys")
    call = {"name": "final_answer", "arguments": {"final_answer": "done"}}
    return {"tool_calls": [call]}


COMMANDS = ("ls", "cat train.py", "python train.py")


def reply_late(messages: list[Any]) -> dict[str, Any]:
    """A scripted model that waits 5 s before each of its 4 replies."""
    time.sleep(5)
    turn = sum(message.role == "assistant" for message in messages)
    if turn < len(COMMANDS):
        call = {"name": "run_command", "arguments": {"command": COMMANDS[turn]}}
    else:
        call = {"name": "final_answer", "arguments": {"final_answer": "done"}}
    return {"tool_calls": [call]}


def record(sentence: str) -> None:
    """Add a sentence to the record that `make cluster` writes."""
    if chosen := os.environ.get("MLAB_CLUSTER_RECORD"):
        with Path(chosen).open("a") as file:
            file.write(f"{sentence}\n")
