"""What does a step cost? Our loop against a bare Inspect loop with the same calls.

Both ask a scripted model with the whole history and run `ls` in the same sandbox. Ours
also keeps the trace, the budget and a snapshot of the workspace. What is compared is
the CPU time of this process and its children per step, early and late in a run. Our
agent has a process of its own, which only waits and is not counted.
"""

import os
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from mlagentbench.agents.context import Context
from mlagentbench.core.cache import default_cache
from mlagentbench.core.progress import NullObserver, Silent
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.trace import Step
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.job import Job
from mlagentbench.run.make_jobs import Services, make_jobs
from mlagentbench.run.pipeline import run

STEPS = 310
WINDOWS = {"step 10": slice(1, 20), "step 300": slice(290, 309)}
ALLOWED = 2.0
MODEL = "scripted/agent_step:reply"

clocks: dict[str, list[float]] = {"bare": [], "ours": []}


def reply(messages: list[ChatMessage]) -> str:
    """Say what a model would say."""
    return f"I have said {len(messages)} things; now I list the files."


def main() -> int:
    """Run both loops and compare what their steps cost."""
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(Path(folder))
        run(plan, observer=StepClock())
        services = Services(default_cache(), Silent(), NullObserver())
        (job,) = make_jobs(plan, Experiment(Path(folder) / "bare"), services)
        inspect_eval(
            bare(job), model=MODEL, log_dir=folder, display="none", log_realtime=False
        )
    return max(_compared(name, window) for name, window in WINDOWS.items())


def _plan(out: Path) -> Plan:
    return Plan(
        tasks=("house-price",),
        agent="agent_step:lister",
        model=MODEL,
        budget=BudgetOverride(steps=STEPS + 1),
        out=out,
    )


class StepClock(NullObserver):
    """Notes the CPU time after every step of our harness."""

    def step_taken(self, run: RunId, step: Step) -> None:  # noqa: ARG002  # its contract
        """Note the time."""
        clocks["ours"].append(_cpu())


async def lister(context: Context) -> None:
    """Ask and list, again and again, in our harness."""
    messages: list[ChatMessage] = [ChatMessageUser(content=context.problem)]
    for _ in range(STEPS):
        output = await context.ask(messages)
        step = await context.act("List Files", dir_path=".")
        messages += [output.message, ChatMessageUser(content=step.told)]


@task
def bare(job: Job) -> Task:
    """Return the same as an Inspect task and nothing more."""
    spec = SandboxEnvironmentSpec("bwrap", job.sandbox_config(0))
    sample = Sample(input=job.problem, sandbox=spec)
    return Task(dataset=[sample], solver=asking_and_listing())


@solver
def asking_and_listing() -> Solver:
    """Ask and list, again and again."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # Inspect's signature
        messages: list[ChatMessage] = [ChatMessageUser(content=state.input_text)]
        for _ in range(STEPS):
            clocks["bare"].append(_cpu())
            output = await get_model().generate(messages)
            listed = await sandbox().exec(["ls", "-F", "--", "/workspace"])
            messages += [output.message, ChatMessageUser(content=listed.stdout)]
        return state

    return solve


def _cpu() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _compared(name: str, window: slice) -> int:
    bare, ours = (_mean_ms(clocks[kind], window) for kind in ("bare", "ours"))
    print(
        f"CPU per step at {name}: bare Inspect loop {bare:.1f} ms, ours {ours:.1f} ms, "
        f"ratio {ours / bare:.2f} (mean of {window.stop - window.start},"
        f" at most {ALLOWED:g})"
    )
    return int(ours > ALLOWED * bare)


def _mean_ms(clock: list[float], window: slice) -> float:
    ticks = clock[window.start : window.stop + 1]
    return 1000 * statistics.mean(after - before for before, after in pairwise(ticks))


if __name__ == "__main__":
    # The same module for Inspect, which imports it by name.
    sys.modules["agent_step"] = sys.modules["__main__"]
    sys.exit(main())
