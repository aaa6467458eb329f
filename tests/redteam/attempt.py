"""One attack in a real sandbox, through the actions an agent has, and its result."""

import asyncio
import errno
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from inspect_ai.model import GenerateConfig
from tests.redteam.attack import (
    ATTACKS,
    NO_DISK,
    TOO_SLOW,
    Attack,
    BrokenAttackError,
    HarnessFaultError,
    Observed,
    Seen,
)
from tests.redteam.setup import AttackSetup, hints_text

from mlagentbench.core.errors import ActionError
from mlagentbench.core.record import Record
from mlagentbench.core.text import shortened
from mlagentbench.environment.action import ActionContext, Completion
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.inspect_provider import BwrapSandbox
from mlagentbench.environment.sandbox import watchdog
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.run.job import Job
from mlagentbench.run.validation import check

HELPER = "evidence.py"
_RESERVE_MB = 1000
"""Free disk that is left to everybody else on the machine."""
_HOLD_SECONDS = 10
"""How long an attack keeps what it took, on a machine of ordinary speed."""
_PAUSE_SECONDS = 0.02
_SLOWER = 4
"""A machine so many times slower than at the start says nothing about time."""


@dataclass(frozen=True)
class Attempt:
    """An attack in an open sandbox."""

    setup: AttackSetup
    attack: Attack
    context: ActionContext
    sandbox: BwrapSandbox
    loosened: bool = False

    @property
    def workspace(self) -> Path:
        """The workspace as it lies on the host."""
        return self.sandbox.sandbox.workspace

    async def act(self, name: str, **given: str) -> Observed:
        """Take one action; anything but a refusal or an observation is our fault."""
        try:
            text = await ACTIONS[name].perform(self.context, given)
        except ActionError as refused:
            return Observed(ok=False, text=shortened(str(refused)), given=given)
        except Exception as error:
            raise HarnessFaultError(f"{name}: {error!r}") from error
        return Observed(ok=True, text=shortened(text), given=given)

    async def run(self) -> Observed:
        """Write the attack's script and what it needs, and execute it."""
        helper = (ATTACKS.parent / HELPER).read_text(encoding="utf-8")
        await self.act("Write File", file_name=HELPER, content=helper)
        hints = hints_text(self.setup.hints, **self._pace())
        await self.act("Write File", file_name="hints.json", content=hints)
        name = f"{self.attack.name}.py"
        await self.act("Write File", file_name=name, content=self.attack.script)
        return await self.act("Execute Script", script_name=name)

    def _pace(self) -> dict[str, object]:
        """Return how long to hold what was taken, and the limit that must hold."""
        if self.loosened:
            return {"hold": 0, "pause": 0, "limit_mb": None}
        limits = self.attack.limits
        limit = limits.get("memory_mb", limits.get("workspace_mb"))
        hold = round(_HOLD_SECONDS * self.setup.slowness)
        return {"hold": hold, "pause": _PAUSE_SECONDS, "limit_mb": limit}

    @property
    def progress(self) -> str:
        """How much an attack had taken when it ended, in words."""
        try:
            return f"{int((self.workspace / 'progress').read_text())} MB were taken"
        except (OSError, ValueError):
            return ""

    def by_time(self, seen: Seen) -> Seen:
        """Return a success that rests on time, or that the machine was too slow."""
        if not seen.succeeded or self.setup.measured_slowness() <= (
            _SLOWER * self.setup.slowness
        ):
            return seen
        return Seen(False, seen.evidence, unclear=TOO_SLOW)


async def perform(
    setup: AttackSetup, attack: Attack, *, loosened: bool = False
) -> Seen:
    """Carry out an attack; `loosened` leaves the limits that a run has."""
    if missing := _missing_disk(setup, attack):
        return Seen(False, missing, unclear=NO_DISK)
    config = setup.job.sandbox_config(seed=1)
    files = watchdog.FILES_AT_MOST
    if not loosened:
        limits = Limits(**(config.limits.model_dump() | attack.limits))
        config = config.model_copy(update={"limits": limits})
        files = attack.files or files
    with patch.object(watchdog, "FILES_AT_MOST", files):
        opened = await BwrapSandbox.sample_init(attack.name, config, {})
    sandbox = opened["default"].as_type(BwrapSandbox)
    setup.sandboxes_seen.add(sandbox.sandbox.workspace.parent.name)
    before = setup.digest()
    try:
        services = AttackServices(setup.job, sandbox, attack)
        task, problem = setup.job.task, setup.job.problem
        context = ActionContext(task, sandbox, problem, services)
        attempt = Attempt(setup, attack, context, sandbox, loosened)
        seen = await attack.sandboxed(attempt)
    except HarnessFaultError as fault:
        seen = Seen(True, f"the run would be broken: {fault}")
        if _is_full(fault.__cause__):
            seen = Seen(False, seen.evidence, unclear=NO_DISK)
    finally:
        await BwrapSandbox.sample_cleanup(
            attack.name, config, opened, interrupted=False
        )
    if setup.digest() != before:
        return Seen(True, "data, labels or metric were changed")
    return seen


@dataclass(frozen=True)
class AttackServices:
    """A run without models and snapshots."""

    job: Job
    sandbox: BwrapSandbox
    attack: Attack
    step_number: int = 1

    def seconds_left(self) -> float:
        return self.attack.seconds

    async def ask(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        raise ActionError(f"there is no {role} model here for {prompt} ({config})")

    async def restore(self, step: int) -> tuple[str, ...]:
        raise ActionError(f"step {step} was not kept")

    async def check_submission(self) -> str | None:
        verdict = await check(self.job.task, self.job.prepared, self.sandbox)
        return verdict.submission_error


class Result(Record):
    """What is known about one attack after it was tried."""

    attack: str
    in_sandbox: Seen
    unprotected: Seen | None
    """None if it was not tried without the protection."""
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the sandbox stops it, and it works without if that was tried."""
        live = self.unprotected is None or self.unprotected.succeeded
        return live and self.in_sandbox.verdict == "stopped"

    def __str__(self) -> str:
        """One line: attack, outcome, live without protection, evidence."""
        live, bare = "not tried", ""
        if self.unprotected is not None:
            live = self.unprotected.unclear or (
                "yes" if self.unprotected.succeeded else "NO"
            )
            bare = f" || unprotected: {_short(self.unprotected)}"
        return (
            f"{self.attack:<24} | {self.in_sandbox.verdict:<9} | "
            f"live without protection: {live:<3} | {_short(self.in_sandbox)}{bare}"
        )


def tried(setup: AttackSetup, attack: Attack, *, live: bool = True) -> Result:
    """Carry out an attack in the sandbox, then without the protection."""
    began = time.monotonic()
    in_sandbox = _seen(perform(setup, attack), broken_means=True)
    unprotected = None
    if live and attack.is_live_here:
        unprotected = _tried_bare(setup, attack)
    return Result(
        attack=attack.name,
        in_sandbox=in_sandbox,
        unprotected=unprotected,
        seconds=time.monotonic() - began,
    )


def _tried_bare(setup: AttackSetup, attack: Attack) -> Seen:
    if missing := _missing_disk(setup, attack):
        return Seen(False, missing, unclear=NO_DISK)
    try:
        return _seen(attack.live(setup, attack), broken_means=False)
    finally:
        # What it wrote is in nobody's way any more.
        bare = setup.scratch / "bare" / attack.name
        subprocess.run(["/bin/rm", "-rf", "--", str(bare)], check=False)


def _missing_disk(setup: AttackSetup, attack: Attack) -> str:
    free = shutil.disk_usage(setup.scratch).free // 2**20
    needed = attack.disk_mb + _RESERVE_MB
    return f"{free} MB are free, {needed} are needed" if free < needed else ""


def _is_full(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ENOSPC


def _short(seen: Seen) -> str:
    line = " ".join(seen.evidence.split())
    return line if len(line) <= 110 else f"{line[:107]}..."


def _seen(
    attempt: "asyncio.Coroutine[None, None, Seen]", *, broken_means: bool
) -> Seen:
    """Return what was seen; an attack without evidence counts against us."""
    try:
        return asyncio.run(attempt)
    except (BrokenAttackError, OSError, subprocess.SubprocessError) as broken:
        evidence = f"broken attack: {broken!r}"
        if _is_full(broken):
            return Seen(False, evidence, unclear=NO_DISK)
        return Seen(broken_means, evidence)
