"""What an experiment's folder is called, how files in it are, and what is litter."""

import hashlib
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from mlagentbench.core.scorecard import RunId
from mlagentbench.run.plan import Plan

_LONGEST_NAME = 180
"""Of a file named after a run; file systems allow 255 bytes with all endings."""

_UNFINISHED = (
    ".experiment.json.*",
    ".scorecards.jsonl.*",
    "logs/.inspect_tmp_*",
    "snapshots/incoming/*",
    "snapshots/manifests/.*",
    "snapshots/runs/.*",
)
"""Files that are renamed when they are whole."""


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


def file_name(run: RunId) -> str:
    """Return what files of one run are called, without their endings."""
    # Model names hold slashes; a colon is fine in a file name.
    name = quote(str(run), safe=":=,[]@")
    if len(name) <= _LONGEST_NAME:
        return name
    # Some models are named by a path, and some agents by many settings.
    digest = hashlib.sha256(str(run).encode()).hexdigest()[:16]
    return f"{name[:_LONGEST_NAME]}-{digest}"


def sweep_unfinished(folder: Path) -> None:
    """Remove what writers that were killed left unfinished; nobody else may write."""
    for pattern in _UNFINISHED:
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _numbered(folder: Path) -> Path:
    number = 2
    while (candidate := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return candidate
