"""Fixtures of a test module that names its task in `TASK`."""

import asyncio
import re

import pytest
from tests.support.code_task import copy_task

from mlagentbench.core.cache import default_cache
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task


@pytest.fixture(scope="module")
def prepared(request):
    return prepare_task(load_task(request.module.TASK), default_cache())


@pytest.fixture(scope="module")
def patient_task(request, tmp_path_factory):
    """The task with longer time limits, for a busy machine."""
    copy = tmp_path_factory.mktemp("task") / "patient"
    copy_task(load_task(request.module.TASK).folder, copy)
    table = (copy / "task.toml").read_text()
    (copy / "task.toml").write_text(re.sub(r"seconds = \d+", "seconds = 200", table))
    return load_task(copy)


@pytest.fixture
def judge(patient_task, prepared, tmp_path):
    """Grade the code of a tool, with other files beside it."""

    def verdict(code, *, split="visible", **beside):
        (tmp_path / patient_task.submission[0]).write_text(code)
        for name, text in beside.items():
            (tmp_path / f"{name}.py").write_text(text)
        return asyncio.run(grade_saved(patient_task, prepared, tmp_path, split=split))

    return verdict
