"""Submitted code that attacks while it is checked or graded, in real runs.

The agent is a plain function on the host. It hands in the attack as its code, lets the
harness check it, and writes down how much of the budget that took.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.redteam.attack import Attack, BrokenAttackError
from tests.redteam.setup import AttackSetup
from tests.support.code_task import quick_code_task

from mlagentbench.agents.context import Context
from mlagentbench.run.budget import FREE_CHECK_SECONDS

BURNT = {"check_computing": (10, 2.5), "check_computing_import": (3, 9.0)}
"""How often each attack is checked, and the CPU seconds that it uses each time.

An answer may take 3 seconds. All together are more than is free.
"""
MARK = "LE" + "AK"
_CODE = "REDTEAM_CODE"
_PATIENCE = 600
_RECORDS = ("scorecards.jsonl", "trace/*.jsonl", "report.html")


class Found(NamedTuple):
    """What the records of a run hold."""

    beyond_free: float
    counted: float
    leaks: str
    """The record that names a hidden input."""


async def agent(context: Context) -> None:
    """Hand in the attack; note the seconds left before and after some checks."""
    code = Path(os.environ[_CODE])
    await context.act("Write File", file_name="layer.py", content=code.read_text())
    left = [context.remaining().seconds]
    # A check runs on visible inputs and may name them; only grading sees hidden ones.
    for _ in range(_burnt(code.stem)[0]):
        await context.act("Check Submission")
        left.append(context.remaining().seconds)
    await context.act("Write File", file_name="left.json", content=json.dumps(left))
    await context.act("Final Answer", final_answer="done")


async def in_checks(setup: AttackSetup, attack: Attack) -> Found:
    """Run the agent with an attack as its code; return what was recorded."""
    place = setup.scratch / "checks"
    place.mkdir(exist_ok=True)
    task = place / "task"
    if not task.exists():
        quick_code_task(task)
    code = place / f"{attack.name}.py"
    code.write_text(attack.script)
    command = [
        *(sys.executable, "-m", "mlagentbench", "run", str(task), "--yes"),
        *("--agent", "tests.redteam.checks:agent", "--out", str(place / attack.name)),
    ]
    variables = {
        "MLAB_CACHE": str(setup.job.prepared.cache),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        _CODE: str(code),
    }
    done = await asyncio.to_thread(
        subprocess.run,
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, **variables},
    )
    try:
        return _read(place / attack.name)
    except (LookupError, ValueError, OSError) as error:
        raise BrokenAttackError(f"{error!r}: {done.stdout[-600:]}") from error


def _burnt(attack: str) -> tuple[int, float]:
    return BURNT.get(attack, (0, 0.0))


def _read(folder: Path) -> Found:
    (trace,) = folder.rglob("trace/*.jsonl")
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    (noted,) = (
        line["input"]["content"]
        for line in lines
        if line.get("input", {}).get("file_name") == "left.json"
    )
    left = json.loads(noted)
    leaks = [
        path.name
        for pattern in _RECORDS
        for path in trace.parent.parent.glob(pattern)
        if MARK in path.read_text(errors="replace")
    ]
    number, seconds = _burnt(folder.name)
    beyond_free = number * seconds - FREE_CHECK_SECONDS
    return Found(beyond_free, left[0] - left[-1], ", ".join(leaks))
