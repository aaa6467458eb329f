"""How attacks are carried out in the sandbox, and how the host judges them."""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable

from tests.redteam.attack import Seen, evidence_in
from tests.redteam.baits import label_rows
from tests.redteam.leftovers import processes_in
from tests.redteam.scene import Scene

from mlagentbench.core.errors import SubmissionError
from mlagentbench.environment.workspace import collect

Play = Callable[[Scene], Awaitable[Seen]]

PROMPT = 45.0
"""Seconds within which the harness must be back when it need not wait at all, on a busy
machine too; what would have it wait lasts a minute or more."""


async def script(scene: Scene) -> Seen:
    """Believe the script: it knows best whether it got what it went for."""
    return evidence_in((await scene.run()).text)


def stopped_by(*notices: str) -> Play:
    """Demand that the script is stopped with one of these notices, or gives up."""

    async def play(scene: Scene) -> Seen:
        said = (await scene.run()).text
        if "SUCCEEDED: " in said or "FAILED: " in said:
            return evidence_in(said)
        lines = [line for line in said.splitlines() if any(n in line for n in notices)]
        if lines:
            return Seen(succeeded=False, evidence=lines[0])
        return Seen(succeeded=True, evidence=f"not stopped: {said[-200:]}")

    return play


async def nobody_is_left(scene: Scene) -> Seen:
    """Demand that the execution ends in time, with every process of it."""
    began = time.monotonic()
    step = await scene.run()
    late = time.monotonic() - began - scene.attack.seconds
    alive = processes_in(scene.workspace.parent)
    in_time = late < PROMPT and f"stopped after {scene.attack.seconds:g} s" in (
        step.text
    )
    return Seen(
        succeeded=bool(alive) or not in_time,
        evidence=f"{len(alive)} processes left, {late:.1f} s after the time limit",
    )


async def ends_by_its_limit(scene: Scene) -> Seen:
    """Demand an ordinary time-out, however long dying takes."""
    said = (await scene.run()).text
    ordinary = "stopped after" in said or "memory limit" in said
    return Seen(succeeded=not ordinary, evidence=said.splitlines()[0])


async def is_back_at_once(scene: Scene) -> Seen:
    """Demand that the harness does not wait for anything the script left behind."""
    began = time.monotonic()
    said = (await scene.run()).text
    took = time.monotonic() - began
    alive = processes_in(scene.workspace.parent)
    words = "half a line" in said or "FAILED: " in said
    return Seen(
        succeeded=took > PROMPT or bool(alive) or not words,
        evidence=f"back after {took:.1f} s with all output, {len(alive)} left alive",
    )


async def output_is_bounded(scene: Scene) -> Seen:
    """Demand that a flood ends, and that the host keeps little of it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step = await scene.run()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    size = len(step.text)
    return Seen(
        succeeded=not step.ok or size > 50_000 or grown > 200_000,
        evidence=f"{size} characters shown, host grew by {grown // 1000} MB",
    )


async def submission_stays(scene: Scene) -> Seen:
    """Demand that what was handed in does not change any more."""
    await scene.run()
    before = await scene.act("Read File", file_name="submission.csv")
    await asyncio.sleep(2.5)
    after = await scene.act("Read File", file_name="submission.csv")
    alive = processes_in(scene.workspace.parent)
    changed = before.text != after.text
    return Seen(
        succeeded=changed or bool(alive),
        evidence=f"submission {'changed' if changed else 'unchanged'} after 2.5 s, "
        f"{len(alive)} processes left",
    )


async def fails_as_itself(scene: Scene) -> Seen:
    """Demand that the script's failure is an ordinary observation."""
    step = await scene.run()
    return Seen(succeeded=step.ok, evidence=step.text.splitlines()[0])


async def grows_no_further(scene: Scene) -> Seen:
    """Demand that repeated overruns do not add up."""
    sizes = []
    for _ in range(4):
        await scene.run()
        files = [path.stat() for path in scene.workspace.iterdir()]
        sizes.append(sum(status.st_blocks for status in files) * 512 // 10**6)
    grown = sizes[-1] - sizes[0]
    return Seen(
        succeeded=grown > scene.attack.limits["workspace_mb"],
        evidence=f"MB on disk after each execution: {sizes}",
    )


async def refused_as_submission(scene: Scene) -> Seen:
    """Demand that what was handed in is refused in time and never shown."""
    planted = evidence_in((await scene.run()).text)
    if planted.succeeded:
        return planted
    began = time.monotonic()
    checked = await scene.act("Check Submission")
    shown = await scene.act("Read File", file_name="submission.csv")
    took = time.monotonic() - began
    leaked = label_rows(scene.stage.order).decode() in shown.text
    return Seen(
        succeeded=checked.ok or shown.ok or leaked or took > PROMPT,
        evidence=f"{checked.text.splitlines()[0]} ({took:.1f} s)",
    )


async def kept_without_its_mode(scene: Scene) -> Seen:
    """Demand that a collected file cannot run with anybody's rights."""
    await scene.run()
    kept = scene.stage.scratch / "kept" / scene.attack.name
    kept.mkdir(parents=True)
    try:
        await collect(scene.sandbox, scene.context.task.submission, kept, limit_mb=200)
    except SubmissionError as refused:
        return Seen(succeeded=False, evidence=str(refused))
    mode = (kept / "submission.csv").stat().st_mode & 0o7777
    return Seen(succeeded=bool(mode & 0o6111), evidence=f"kept with mode {mode:o}")


async def folder_removed(scene: Scene) -> Seen:
    """Demand that the harness can still list, and can close the sandbox."""
    planted = await scene.run()
    listed = await scene.act("List Files", dir_path=".")
    scene.sandbox.sandbox.close()
    gone = not scene.workspace.parent.exists()
    said = planted.text.splitlines()[-1]
    return Seen(
        succeeded=not gone or not listed.ok,
        evidence=f"folder {'removed whole' if gone else 'still there'}; {said}"[:200],
    )
