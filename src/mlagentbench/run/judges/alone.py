"""A judge of its own: a fresh process that hears one case."""

import asyncio
import os
import sys

from mlagentbench.run.judges.case import Case, Heard, quiet_environment


async def hear_alone(case: Case) -> Heard:
    """Start a child, let it grade once, and end it where it takes too long."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.run.judges.child"),
        *(case.model_dump_json(), str(os.getpid())),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=quiet_environment(),
    )
    try:
        async with asyncio.timeout(case.seconds):
            out, err = await child.communicate()
    except TimeoutError:
        return Heard(late=True)
    finally:
        await end(child)
    return Heard(
        out=out.decode(errors="replace"),
        err=err.decode(errors="replace"),
        code=child.returncode,
    )


async def end(child: asyncio.subprocess.Process) -> None:
    """Kill a child that is still there."""
    if child.returncode is None:
        child.kill()
        await child.wait()
