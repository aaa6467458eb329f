"""A timed task that is quickly judged, and layers to judge with it."""

import asyncio
import shutil
from pathlib import Path

import pytest

from mlagentbench.evaluation.evaluate import Verdict
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory) -> Path:
    """A copy of vectorization with less work, fewer turns and less patience."""
    folder = tmp_path_factory.mktemp("task") / "quick"
    skipped = shutil.ignore_patterns("__pycache__", "measured.json", "checks.json")
    shutil.copytree(load_task("vectorization").folder, folder, ignore=skipped)
    _replace(folder / "prepare.py", "\nOUTPUTS = 160_000", "\nOUTPUTS = 20_000")
    _replace(folder / "prepare.py", "OUTPUTS = 40_000", "OUTPUTS = 5_000")
    _replace(folder / "prepare.py", "HIDDEN_INPUTS = 5", "HIDDEN_INPUTS = 3")
    _replace(folder / "task.toml", "seconds = 30", "seconds = 10")
    _replace(folder / "task.toml", "memory_gb = 4", "memory_gb = 1")
    return folder


@pytest.fixture
def grade_layer(quick_folder, cache, tmp_path):
    """Judge the text of a layer.py; `beside` are files planted next to it."""

    def judge(
        code: str | None,
        *,
        beside: dict[str, str] | None = None,
        split: str = "hidden",
        folder: Path = quick_folder,
    ) -> Verdict:
        saved = tmp_path / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        files = {} if code is None else {"layer.py": code}
        for name, text in (files | (beside or {})).items():
            (saved / name).parent.mkdir(parents=True, exist_ok=True)
            (saved / name).write_text(text)
        task = load_task(folder)
        prepared = prepare(task, cache)
        return asyncio.run(grade_saved(task, prepared, saved, split=split))

    return judge


@pytest.fixture(scope="session")
def starter_code() -> str:
    return (load_task("vectorization").folder / "starter/layer.py").read_text()


@pytest.fixture(scope="session")
def reference_code() -> str:
    return (load_task("vectorization").folder / "reference/layer.py").read_text()


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
