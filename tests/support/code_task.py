"""Copies of tasks, one of them graded quickly, and the tables of their data."""

import csv
import shutil
from pathlib import Path

from mlagentbench.tasks.load import load_task

ORIGINAL = load_task("vectorization").folder
# It sleeps, so that on a busy machine too it is much slower than the reference.
_PAD = "padded = zero_pad(images, pad)"
_SLEEP = (_PAD, f"__import__('time').sleep(0.4)\n    {_PAD}")
COMPUTING_STARTER = (ORIGINAL / "starter/layer.py").read_text()
STARTER = COMPUTING_STARTER.replace(*_SLEEP)
REFERENCE = (ORIGINAL / "reference/layer.py").read_text()


def quick_code_task(folder: Path) -> Path:
    """Write the task: two hidden inputs, a visible one, 3 seconds for an answer."""
    return copy_task(
        ORIGINAL,
        folder,
        ("prepare.py", "\nOUTPUTS = 160_000", "\nOUTPUTS = 5_000"),
        ("prepare.py", "OUTPUTS = 40_000", "OUTPUTS = 2_000"),
        ("prepare.py", "HIDDEN_INPUTS = 5", "HIDDEN_INPUTS = 2"),
        ("prepare.py", "VISIBLE_INPUTS = 3", "VISIBLE_INPUTS = 1"),
        ("task.toml", "seconds = 30", "seconds = 3"),
        ("starter/layer.py", *_SLEEP),
        ("task.toml", "memory_gb = 4", "memory_gb = 0.5"),
    )


def copy_task(source: Path, folder: Path, *edits: tuple[str, str, str]) -> Path:
    """Copy a task without its results; replace texts that must be there once."""
    skipped = shutil.ignore_patterns("__pycache__", "measured.json", "checks.json")
    shutil.copytree(source, folder, ignore=skipped)
    for name, old, new in edits:
        text = (folder / name).read_text()
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new))
    return folder


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
