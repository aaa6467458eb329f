"""The same attacks without the protection, where each must succeed.

A script is run as a plain child of ours in a scratch folder, the way the original
benchmark did it. Every script bounds itself, and its whole session is killed.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.redteam.attack import ATTACKS, Attack, Seen, evidence_in
from tests.redteam.baits import hints_text
from tests.redteam.scene import HELPER, perform
from tests.redteam.stage import Stage, bare_workspace

_PATIENCE = 240


def prepare_bare(stage: Stage, attack: Attack) -> list[str]:
    """Lay out a workspace with the attack in it; return the command that runs it."""
    folder = bare_workspace(stage, attack.name)
    (folder / HELPER).write_bytes((ATTACKS.parent / HELPER).read_bytes())
    (folder / "hints.json").write_text(hints_text(stage.hints, bare=True))
    (folder / f"{attack.name}.py").write_text(attack.script)
    return [str(stage.order.agent_env / "bin" / "python"), "-u", f"{attack.name}.py"]


def folder_of(stage: Stage, attack: Attack) -> Path:
    """Return where an attack lies bare."""
    return stage.scratch / "bare" / attack.name


@contextmanager
def started(
    stage: Stage, attack: Attack, **streams: int
) -> Iterator["subprocess.Popen[str]"]:
    """Start an attack bare; kill its whole session afterwards."""
    child = subprocess.Popen(
        prepare_bare(stage, attack),
        cwd=folder_of(stage, attack),
        text=True,
        errors="replace",
        start_new_session=True,
        # As careless code does it, so that a forgotten descriptor is inherited.
        close_fds=False,
        **streams,
    )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def printed(stage: Stage, attack: Attack) -> str:
    """Run an attack bare to its end and return what it printed."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(stage, attack, **pipes) as child:
        return child.communicate(timeout=_PATIENCE)[0]


async def bare(stage: Stage, attack: Attack) -> Seen:
    """Run the script as a plain child and believe it."""
    return evidence_in(printed(stage, attack))


async def bare_finds_all(stage: Stage, attack: Attack) -> Seen:
    """Run a search as a plain child: bare, it must find every thing it looks for."""
    seen = await bare(stage, attack)
    whole = seen.succeeded and seen.evidence.startswith("5 of 5")
    return Seen(succeeded=whole, evidence=seen.evidence)


async def loosened(stage: Stage, attack: Attack) -> Seen:
    """Run it in the same sandbox with only the limit in question lifted."""
    return await perform(stage, attack, loosened=True)


async def survives_sigterm(stage: Stage, attack: Attack) -> Seen:
    """End it as a polite harness does, and see that it lives on."""
    with started(stage, attack, stdout=subprocess.PIPE) as child:
        if child.stdout is not None:
            child.stdout.readline()
        child.terminate()
        await asyncio.sleep(1)
        alive = child.poll() is None
    return Seen(succeeded=alive, evidence="alive a second after SIGTERM")


async def holds_a_waiting_harness(stage: Stage, attack: Attack) -> Seen:
    """Wait for the end of its output, as `subprocess.run` does."""
    with started(stage, attack, stdout=subprocess.PIPE) as child:
        child.wait(timeout=_PATIENCE)
        try:
            child.communicate(timeout=4)
        except subprocess.TimeoutExpired:
            return Seen(succeeded=True, evidence="the reader waits, the child is gone")
    return Seen(succeeded=False, evidence="the reader was not held")


async def blocks_a_line_reader(stage: Stage, attack: Attack) -> Seen:
    """Read its streams line by line, one after the other, as the original did."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(stage, attack, **pipes) as child:
        reader = asyncio.get_running_loop().run_in_executor(
            None, child.stdout.readline if child.stdout else str
        )
        done, _ = await asyncio.wait([reader], timeout=4)
        blocked = not done and child.poll() is None
        os.killpg(child.pid, signal.SIGKILL)
        await reader
    return Seen(succeeded=blocked, evidence="reader and child wait for each other")


async def changes_it_later(stage: Stage, attack: Attack) -> Seen:
    """Look at the submission again after the script has ended."""
    printed(stage, attack)
    submission = folder_of(stage, attack) / "submission.csv"
    before = submission.read_bytes()
    await asyncio.sleep(2.5)
    changed = submission.read_bytes() != before
    return Seen(succeeded=changed, evidence="the submission changed after the end")


async def dies_slowly(stage: Stage, attack: Attack) -> Seen:
    """Kill it, and see that a harness which waits half a second gives up too early."""
    with started(stage, attack, stdout=subprocess.PIPE) as child:
        if child.stdout is not None:
            child.stdout.readline()
        began = time.monotonic()
        os.killpg(child.pid, signal.SIGKILL)
        while _session_lives(child.pid):
            await asyncio.sleep(0.01)
        took = time.monotonic() - began
    return Seen(succeeded=took > 0.5, evidence=f"dying took {took:.1f} s")


def _session_lives(leader: int) -> bool:
    # The leader itself stays until it is waited for.
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-s", str(leader)],
        check=False,
        capture_output=True,
        text=True,
    )
    return any(not state.startswith("Z") for state in listed.stdout.split())


async def seems_the_harness(stage: Stage, attack: Attack) -> Seen:
    """Judge by the words on the error stream, as careless code does."""
    said = printed(stage, attack)
    blamed = said.startswith("setpriv: ") and "Permission denied" in said
    return Seen(succeeded=blamed, evidence="the words blame the sandbox")


async def adds_up(stage: Stage, attack: Attack) -> Seen:
    """Run it four times in one place that nobody watches."""
    command = prepare_bare(stage, attack)
    folder = folder_of(stage, attack)
    for _ in range(4):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    size = sum(path.stat().st_blocks for path in folder.iterdir()) * 512 // 10**6
    return Seen(succeeded=size > 1000, evidence=f"{size} MB after four executions")
