"""A code task that is graded quickly, and a grader for the text of its submission."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.support.code_task import quick_code_task

from mlagentbench.evaluation.evaluate import Verdict
from mlagentbench.grading.grader import shared_graders
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory) -> Path:
    return quick_code_task(tmp_path_factory.mktemp("task") / "quick")


@pytest.fixture(scope="module")
def shared_loop():
    """An event loop in which all gradings of a module share their graders."""
    graders = AsyncExitStack()
    with asyncio.Runner() as runner:
        runner.run(graders.enter_async_context(shared_graders()))
        yield runner
        runner.run(graders.aclose())


@pytest.fixture
def grade_layer(quick_folder, cache, tmp_path, shared_loop):
    """Grade the text of a layer.py; `beside` are files planted next to it."""

    def grade(
        code: str | None,
        *,
        beside: dict[str, str] | None = None,
        split: str = "visible",
        folder: Path = quick_folder,
    ) -> Verdict:
        saved = tmp_path / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        files = {} if code is None else {"layer.py": code}
        for name, text in (files | (beside or {})).items():
            (saved / name).parent.mkdir(parents=True, exist_ok=True)
            (saved / name).write_text(text)
        task = load_task(folder)
        prepared = prepare_task(task, cache)
        return shared_loop.run(grade_saved(task, prepared, saved, split=split))

    return grade
