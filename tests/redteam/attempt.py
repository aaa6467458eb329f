"""One attack in a real sandbox, through the actions an agent has, and its result."""

import asyncio
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from inspect_ai.model import GenerateConfig
from tests.redteam.attack import (
    ATTACKS,
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
from mlagentbench.environment.sandbox import watchdog
from mlagentbench.environment.sandbox.inspect_provider import BwrapSandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.run.job import Job
from mlagentbench.run.validation import refusal

HELPER = "evidence.py"


@dataclass(frozen=True)
class Attempt:
    """An attack in an open sandbox."""

    setup: AttackSetup
    attack: Attack
    context: ActionContext
    sandbox: BwrapSandbox

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
        hints = hints_text(self.setup.hints)
        await self.act("Write File", file_name="hints.json", content=hints)
        name = f"{self.attack.name}.py"
        await self.act("Write File", file_name=name, content=self.attack.script)
        return await self.act("Execute Script", script_name=name)


async def perform(
    setup: AttackSetup, attack: Attack, *, loosened: bool = False
) -> Seen:
    """Carry out an attack; `loosened` leaves the limits that a run has."""
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
        seen = await attack.sandboxed(Attempt(setup, attack, context, sandbox))
    except HarnessFaultError as fault:
        seen = Seen(True, f"the run would be broken: {fault}")
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
        return await refusal(self.job.task, self.job.prepared, self.sandbox)


class Result(Record):
    """What is known about one attack after it was tried on both sides."""

    attack: str
    in_sandbox: Seen
    unprotected: Seen
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the attack works, and the sandbox stops it."""
        return self.unprotected.succeeded and not self.in_sandbox.succeeded

    def __str__(self) -> str:
        """One line: attack, outcome, live without protection, evidence."""
        outcome = "SUCCEEDED" if self.in_sandbox.succeeded else "stopped"
        live = "yes" if self.unprotected.succeeded else "NO"
        return (
            f"{self.attack:<24} | {outcome:<9} | live without protection: {live:<3} | "
            f"{_short(self.in_sandbox)} || unprotected: {_short(self.unprotected)}"
        )


def tried(setup: AttackSetup, attack: Attack) -> Result:
    """Carry out an attack in the sandbox, then without the protection."""
    began = time.monotonic()
    in_sandbox = _seen(perform(setup, attack), broken_means=True)
    unprotected = _seen(attack.live(setup, attack), broken_means=False)
    return Result(
        attack=attack.name,
        in_sandbox=in_sandbox,
        unprotected=unprotected,
        seconds=time.monotonic() - began,
    )


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
        return Seen(broken_means, f"broken attack: {broken!r}")
