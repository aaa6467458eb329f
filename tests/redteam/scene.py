"""One attack in a real sandbox, carried out through the actions an agent has."""

from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from inspect_ai.model import GenerateConfig
from tests.redteam.attack import ATTACKS, Attack, HarnessFaultError, Observed, Seen
from tests.redteam.baits import hints_text
from tests.redteam.stage import Stage

from mlagentbench.core.errors import ActionError
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
class Scene:
    """What a play has to work with."""

    stage: Stage
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
        hints = hints_text(self.stage.hints)
        await self.act("Write File", file_name="hints.json", content=hints)
        name = f"{self.attack.name}.py"
        await self.act("Write File", file_name=name, content=self.attack.script)
        return await self.act("Execute Script", script_name=name)


async def perform(stage: Stage, attack: Attack, *, loosened: bool = False) -> Seen:
    """Carry out an attack; `loosened` leaves the limits that a run has."""
    config = stage.order.sandbox_config(seed=1)
    files = watchdog.FILES_AT_MOST
    if not loosened:
        limits = Limits(**(config.limits.model_dump() | attack.limits))
        config = config.model_copy(update={"limits": limits})
        files = attack.files or files
    with patch.object(watchdog, "FILES_AT_MOST", files):
        opened = await BwrapSandbox.sample_init(attack.name, config, {})
    sandbox = opened["default"].as_type(BwrapSandbox)
    stage.rooms_seen.add(sandbox.sandbox.workspace.parent.name)
    before = stage.digest()
    try:
        services = AttackServices(stage.order, sandbox, attack)
        task, problem = stage.order.task, stage.order.problem
        context = ActionContext(task, sandbox, problem, services)
        seen = await attack.play(Scene(stage, attack, context, sandbox))
    except HarnessFaultError as fault:
        seen = Seen(succeeded=True, evidence=f"the run would be broken: {fault}")
    finally:
        await BwrapSandbox.sample_cleanup(
            attack.name, config, opened, interrupted=False
        )
    if stage.digest() != before:
        return Seen(succeeded=True, evidence="data, labels or metric were changed")
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
