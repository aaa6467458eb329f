"""How attacks are carried out in the sandbox, and how the host rates them."""

import asyncio
import resource
import subprocess
import time
from collections.abc import Awaitable, Callable

from tests.redteam.attack import ATTACKS, Observed, Seen, evidence_in
from tests.redteam.attempt import HELPER, Attempt
from tests.redteam.checks import in_checks
from tests.redteam.leftovers import processes_in
from tests.redteam.meanwhile import Act, when_ready
from tests.redteam.setup import hints_text, label_rows

from mlagentbench.core.errors import SubmissionError
from mlagentbench.environment.snapshots.snapshot_store import (
    SnapshotLimits,
    SnapshotStore,
    StatCache,
)
from mlagentbench.environment.workspace import collect

Sandboxed = Callable[[Attempt], Awaitable[Seen]]

PROMPT = 45.0
"""Seconds within which the harness must be back when it need not wait at all, on a busy
machine of ordinary speed; what would have it wait never ends."""
_TIME_IS_UP = "stopped after"


async def script(attempt: Attempt) -> Seen:
    """Believe the script: it knows best whether it got what it went for."""
    return evidence_in((await attempt.run()).text)


def stopped_by(*notices: str) -> Sandboxed:
    """Demand that the script is stopped with one of these notices, or gives up."""

    async def sandboxed(attempt: Attempt) -> Seen:
        said = (await attempt.run()).text
        taken = attempt.progress
        if "SUCCEEDED: " in said or "FAILED: " in said:
            return attempt.by_time(evidence_in(said))
        lines = [line for line in said.splitlines() if any(n in line for n in notices)]
        if lines:
            return Seen(False, f"{lines[0]} {taken}")
        return attempt.by_time(Seen(True, f"not stopped: {said[-200:]} {taken}"))

    return sandboxed


async def nobody_is_left(attempt: Attempt) -> Seen:
    """Demand that the execution ends in time, with every process of it."""
    began = time.monotonic()
    step = await attempt.run()
    late = time.monotonic() - began - attempt.attack.seconds
    alive = processes_in(attempt.workspace.parent)
    stopped = f"stopped after {attempt.attack.seconds:g} s" in step.text
    said = f"{len(alive)} processes left, {late:.1f} s after the time limit"
    if alive or not stopped:
        return Seen(True, said)
    return attempt.by_time(Seen(late >= PROMPT * attempt.setup.slowness, said))


async def ends_by_its_limit(attempt: Attempt) -> Seen:
    """Demand an ordinary time-out, however long dying takes."""
    said = (await attempt.run()).text
    ordinary = _TIME_IS_UP in said or "memory limit" in said
    return Seen(not ordinary, said.splitlines()[0])


async def is_back_at_once(attempt: Attempt) -> Seen:
    """Demand that the harness does not wait for anything the script left behind."""
    began = time.monotonic()
    said = (await attempt.run()).text
    took = time.monotonic() - began
    alive = processes_in(attempt.workspace.parent)
    words = "half a line" in said or "FAILED: " in said
    # What was left behind never ends, so a harness that waits is back with the notice.
    return Seen(
        _TIME_IS_UP in said or bool(alive) or not words,
        f"back after {took:.1f} s with all output, {len(alive)} left alive",
    )


async def output_is_bounded(attempt: Attempt) -> Seen:
    """Demand that a flood ends, and that the host keeps little of it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step = await attempt.run()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    size = len(step.text)
    # On a slow machine its time may be up before it has printed everything.
    ended = step.ok or _TIME_IS_UP in step.text
    return Seen(
        not ended or size > 50_000 or grown > 200_000,
        f"{size} characters shown, host grew by {grown // 1000} MB",
    )


async def submission_stays(attempt: Attempt) -> Seen:
    """Demand that what was handed in does not change any more."""
    await attempt.run()
    before = await attempt.act("Read File", file_name="submission.csv")
    await asyncio.sleep(2.5)
    after = await attempt.act("Read File", file_name="submission.csv")
    alive = processes_in(attempt.workspace.parent)
    changed = before.text != after.text
    return Seen(
        changed or bool(alive),
        f"submission {'changed' if changed else 'unchanged'} after 2.5 s, "
        f"{len(alive)} processes left",
    )


async def fails_as_itself(attempt: Attempt) -> Seen:
    """Demand that the script's failure is an ordinary observation."""
    step = await attempt.run()
    return Seen(step.ok, step.text.splitlines()[0])


async def grows_no_further(attempt: Attempt) -> Seen:
    """Demand that repeated overruns do not add up."""
    sizes = []
    for _ in range(4):
        await attempt.run()
        files = [path.stat() for path in attempt.workspace.iterdir()]
        sizes.append(sum(status.st_blocks for status in files) * 512 // 10**6)
    grown = sizes[-1] - sizes[0]
    return Seen(
        grown > attempt.attack.limits["workspace_mb"],
        f"MB on disk after each execution: {sizes}",
    )


async def refused_as_submission(attempt: Attempt) -> Seen:
    """Demand that what was handed in is refused in time and never shown."""
    planted = evidence_in((await attempt.run()).text)
    if planted.succeeded:
        return planted
    began = time.monotonic()
    checked = await attempt.act("Check Submission")
    shown = await attempt.act("Read File", file_name="submission.csv")
    took = time.monotonic() - began
    leaked = label_rows(attempt.setup.job).decode() in shown.text
    said = f"{checked.text.splitlines()[0]} ({took:.1f} s)"
    if checked.ok or shown.ok or leaked:
        return Seen(True, said)
    return attempt.by_time(Seen(took > PROMPT * attempt.setup.slowness, said))


async def kept_without_its_mode(attempt: Attempt) -> Seen:
    """Demand that a collected file cannot run with anybody's rights."""
    await attempt.run()
    kept = attempt.setup.scratch / "kept" / attempt.attack.name
    kept.mkdir(parents=True)
    try:
        await collect(
            attempt.sandbox, attempt.context.task.submission, kept, limit_mb=200
        )
    except SubmissionError as refused:
        return Seen(False, str(refused))
    mode = (kept / "submission.csv").stat().st_mode & 0o7777
    return Seen(bool(mode & 0o6111), f"kept with mode {mode:o}")


async def folder_removed(attempt: Attempt) -> Seen:
    """Demand that the harness can still list, and can close the sandbox."""
    planted = await attempt.run()
    listed = await attempt.act("List Files", dir_path=".")
    attempt.sandbox.sandbox.close()
    gone = not attempt.workspace.parent.exists()
    said = planted.text.splitlines()[-1]
    return Seen(
        not gone or not listed.ok,
        f"folder {'removed whole' if gone else 'still there'}; {said}"[:200],
    )


SHELL_NAMES = (
    "x.py;touch pwned",
    "x.py;mkdir pwned #.py",
    "$(touch pwned).py",
    "`touch pwned`.py",
    "x.py|touch pwned",
    "x.py&&touch pwned",
    "-cimport os;os.mkdir('pwned')",
    "--help",
)
DATA_NAMES = (
    "data/train.csv",
    "./data/train.csv",
    "data//train.csv",
    "data/./train.csv",
    "a/../data/train.csv",
    "/workspace/data/train.csv",
    "//workspace/data/train.csv",
    "data/new.csv",
    "data",
    "d/train.csv",
    "t.csv",
    "evaluate.py",
    "./evaluate.py",
    "a/../evaluate.py",
    "e.py",
)


def names_that_lead_out(labels: str) -> tuple[str, ...]:
    """Return every way to name the labels for an action."""
    return (
        labels,
        f"..{labels}",
        f"../../../../../../../..{labels}",
        f"data/../../../../../../../..{labels}",
        "data/../../private/answers.csv",
        f"/workspace/../..{labels}",
        f"/workspace{labels}",
        f"top{labels}",
        f"magic{labels}",
        "private/answers.csv",
        "labels.csv",
        "/proc/self/environ",
        "/etc/passwd",
    )


async def name_is_only_a_name(attempt: Attempt) -> Seen:
    """Demand that a file name is never taken for a command or an option."""
    for name in SHELL_NAMES:
        text = attempt.attack.script
        await attempt.act("Write File", file_name=name, content=text)
        await attempt.act("Execute Script", script_name=name)
    pwned = (attempt.workspace / "pwned").exists()
    return Seen(
        pwned,
        f"{len(SHELL_NAMES)} names executed, a command in a name "
        f"{'ran' if pwned else 'never ran'}",
    )


async def actions_keep_off_the_data(attempt: Attempt) -> Seen:
    """Demand that no action writes to read-only files under any name."""
    await attempt.run()
    steps = [step for name in DATA_NAMES for step in await _writes(attempt, name)]
    done = [str(step.given) for step in steps if step.ok]
    return Seen(
        bool(done), f"{len(done)} of {len(steps)} actions were carried out {done[:3]}"
    )


async def _writes(attempt: Attempt, name: str) -> list[Observed]:
    return [
        await attempt.act("Write File", file_name=name, content="x"),
        await attempt.act("Append File", file_name=name, content="x"),
        await attempt.act("Copy File", source="train.py", destination=name),
    ]


async def actions_stay_inside(attempt: Attempt) -> Seen:
    """Demand that no action reads anything outside the workspace."""
    await attempt.run()
    labels = str(attempt.setup.hints["labels"])
    names = names_that_lead_out(labels)
    steps = [await attempt.act("Read File", file_name=name) for name in names]
    rows = label_rows(attempt.setup.job).decode()
    done = [step.given for step in steps if step.ok or rows in step.text]
    return Seen(bool(done), f"{len(done)} of {len(names)} names were read {done[:3]}")


async def never_follows_a_swap(attempt: Attempt) -> Seen:
    """Demand that a folder swapped for a link while it is read lets nothing out."""
    swapping = asyncio.ensure_future(attempt.run())
    rows = label_rows(attempt.setup.job)
    looks = leaks = 0
    while not swapping.done():
        try:
            path = "/workspace/swap/answers.csv"
            leaks += rows in await attempt.sandbox.read_file(path, text=False)
        except OSError:
            pass
        looks += 1
        await asyncio.sleep(0)
    said = (await swapping).text.splitlines()[-1]
    return Seen(leaks > 0, f"{leaks} leaks in {looks} looks; {said}")


async def listing_is_plain(attempt: Attempt) -> Seen:
    """Demand that a listing shows one printable line for each file."""
    await attempt.run()
    listed = (await attempt.act("List Files", dir_path=".")).text
    lines = listed.splitlines()
    odd = [ascii(line) for line in lines if not line.isprintable()]
    forged = [line for line in lines if line.startswith("forged")]
    return Seen(
        bool(odd or forged),
        f"{len(lines)} lines, not printable or forged: {odd + forged}",
    )


def meanwhile(act: Act) -> Sandboxed:
    """Let the host or another sandbox act while the script has all in place.

    The evidence is what `act` saw, or else what the script says afterwards.
    """

    async def sandboxed(attempt: Attempt) -> Seen:
        running = asyncio.ensure_future(attempt.run())
        neighbour = attempt.setup.neighbour

        async def look() -> str:
            name = f"{attempt.attack.name}.py"
            neighbour.write(name, attempt.attack.script.encode())
            neighbour.write(HELPER, (ATTACKS.parent / HELPER).read_bytes())
            neighbour.write("hints.json", hints_text(attempt.setup.hints).encode())
            done = await neighbour.execute(["python", name, "look"], timeout=240)
            return (done.stdout + done.stderr).decode(errors="replace")

        seen = await when_ready(attempt.workspace, running.done, act, look)
        said = (await running).text
        return seen or evidence_in(said)

    return sandboxed


def snapshots_stay_below(megabytes: int, steps: int = 5) -> Sandboxed:
    """Demand that the snapshots of a few steps take little of the host's disk.

    The quota of a run is set to half of `megabytes`.
    """

    async def sandboxed(attempt: Attempt) -> Seen:
        place = attempt.setup.scratch / "snapshots" / attempt.attack.name
        quota = dict.fromkeys(_quota_fields(), megabytes // 2)
        store = SnapshotStore(place, run="redteam", limits=SnapshotLimits(**quota))
        cache, taken = StatCache(), []
        for _ in range(steps):
            await attempt.run()
            taken.append(store.take(attempt.workspace, previous=cache).id)
            store.retain(taken, None, attempt.context.task.submission)
        size = sum(path.lstat().st_blocks for path in place.rglob("*")) * 512 // 10**6
        subprocess.run(["/bin/rm", "-rf", "--", str(place)], check=True)
        return Seen(size > megabytes, f"{size} MB of snapshots after {steps} steps")

    return sandboxed


def _quota_fields() -> list[str]:
    """Return the limits of all snapshots of a run together, which may be none."""
    return [name for name in SnapshotLimits.model_fields if name not in ("files", "mb")]


async def nothing_is_free(attempt: Attempt) -> Seen:
    """Demand that the budget counts what submitted code takes while it is checked."""
    found = await in_checks(attempt.setup, attempt.attack)
    return Seen(
        found.counted < 0.8 * found.beyond_free,
        f"checks took {found.beyond_free:.1f} s more than is free,"
        f" {found.counted:.1f} s were counted",
    )


async def hidden_stays_hidden(attempt: Attempt) -> Seen:
    """Demand that no record names a hidden input that submitted code saw."""
    found = await in_checks(attempt.setup, attempt.attack)
    return Seen(bool(found.leaks), f"in {found.leaks or 'no record'}: a hidden input")
