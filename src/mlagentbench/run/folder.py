"""What an experiment's folder is called."""

from datetime import datetime
from pathlib import Path

from mlagentbench.run.plan import Plan


def experiment_folder(plan: Plan) -> Path:
    """Return the folder a plan asks for, or an unused one that tells what is in it."""
    if plan.name:
        return plan.out / plan.name
    first = Path(plan.tasks[0]).name
    tasks = first if len(plan.tasks) == 1 else f"{len(plan.tasks)}-tasks"
    agent = plan.agent.rpartition(":")[2]
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    folder = plan.out / f"{stamp}-{tasks}-{agent}"
    return folder if not folder.exists() else _numbered(folder)


def _numbered(folder: Path) -> Path:
    number = 2
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate
