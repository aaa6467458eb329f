"""Agents of outside that wait, or end their harness, in the middle of a run."""

import asyncio
import os
import signal
from pathlib import Path

from mlagentbench.agents.context import Context


async def walk(context: Context) -> None:
    """Take two steps, wait for the file `go`, take two more and submit."""
    for number in range(4):
        await context.act("List Files", dir_path=".")
        if number == 1 and "go" in context.settings:
            while not Path(context.settings["go"]).exists():
                await asyncio.sleep(0.05)
    await context.act("Final Answer", final_answer="done")


async def kill_harness(context: Context) -> None:
    """Kill the process of the cell after the first step."""
    await context.act("List Files", dir_path=".")
    os.kill(os.getppid(), signal.SIGKILL)
    await asyncio.sleep(60)
