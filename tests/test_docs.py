"""Pages that a command writes are as that command would write them now."""

import importlib.util
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("tool", "name"),
    [("suite_page", "suite"), ("example_page", "example"), ("study_page", "study")],
)
def test_a_generated_page_is_up_to_date(tool, name):
    path = PROJECT / "tools" / f"{tool}.py"
    spec = importlib.util.spec_from_file_location(tool, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == (PROJECT / "docs" / f"{name}.md").read_text()
