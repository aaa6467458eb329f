"""Pages that a command writes are as that command would write them now."""

import importlib.util
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["suite"])
def test_a_generated_page_is_up_to_date(name):
    tool = PROJECT / "tools" / f"{name}_page.py"
    spec = importlib.util.spec_from_file_location(tool.stem, tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == (PROJECT / "docs" / f"{name}.md").read_text()
