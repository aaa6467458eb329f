"""A code task that is graded quickly: vectorization with less work and fewer inputs."""

import shutil
from pathlib import Path

from mlagentbench.tasks.load import load_task

ORIGINAL = load_task("vectorization").folder
STARTER = (ORIGINAL / "starter/layer.py").read_text()
REFERENCE = (ORIGINAL / "reference/layer.py").read_text()


def quick_code_task(folder: Path) -> Path:
    """Write the task: two hidden inputs, a visible one, 3 seconds for an answer."""
    skipped = shutil.ignore_patterns("__pycache__", "measured.json", "checks.json")
    shutil.copytree(ORIGINAL, folder, ignore=skipped)
    _replace(folder / "prepare.py", "\nOUTPUTS = 160_000", "\nOUTPUTS = 5_000")
    _replace(folder / "prepare.py", "OUTPUTS = 40_000", "OUTPUTS = 2_000")
    _replace(folder / "prepare.py", "HIDDEN_INPUTS = 5", "HIDDEN_INPUTS = 2")
    _replace(folder / "prepare.py", "VISIBLE_INPUTS = 3", "VISIBLE_INPUTS = 1")
    _replace(folder / "task.toml", "seconds = 30", "seconds = 3")
    _replace(folder / "task.toml", "memory_gb = 4", "memory_gb = 1")
    return folder


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
