"""The runs that are disturbed: short, and each step needs the ones before."""

from pathlib import Path

from tests.support.quick_task import QUICK_TASK

from mlagentbench.agents.context import Context
from mlagentbench.environment.snapshots.objects import LARGE
from mlagentbench.experiment.plan import BudgetOverride, Plan

_AGENTS = {
    "quick": {"agent": "tests.faults.plans:quick"},
    "slow": {"agent": "tests.faults.plans:slow"},
    "tuner": {"agent": "tuner", "budget": BudgetOverride(steps=8)},
    "thinker": {"agent": "thinker:thinker", "model": "scripted/thinker:script"},
}


def plan_for(kind: str, out: Path, name: str, **more: object) -> Plan:
    """Return the plan of one short run."""
    return Plan(tasks=(str(QUICK_TASK),), out=out, name=name, **_AGENTS[kind], **more)


_WORK = f"""
import csv, os, pathlib
seed = int(os.environ["MLAB_SEED"])
count = pathlib.Path("count.txt")
times = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(times))
with open("data/test.csv", newline="") as file:
    rows = [row["Id"] for row in csv.DictReader(file)]
lines = [f"{{row}},{{10 + times + seed}}\\n" for row in rows]
pathlib.Path("submission.csv").write_text("Id,y\\n" + "".join(lines))
with open("weights.bin", "wb") as file:
    file.write(bytes([times, seed]))
    file.truncate({LARGE + 1})
print("done", times, "times")
"""


async def quick(context: Context) -> None:
    """Count executions in a file, beside one so large that only the last is kept."""
    await context.act("Write File", file_name="work.py", content=_WORK)
    await context.act("Execute Script", script_name="work.py")
    await context.act("Execute Script", script_name="work.py")
    await context.act("Final Answer", final_answer="done")


async def slow(context: Context) -> None:
    """Be in the middle of an execution long enough to be disturbed in it."""
    script = "import time; print('begun', flush=True); time.sleep(6)"
    await context.act("Write File", file_name="sleep.py", content=script)
    await context.act("Execute Script", script_name="sleep.py")
    await quick(context)
