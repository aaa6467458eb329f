"""Agents take time, chance and budget only from the context they are given."""

import ast
from pathlib import Path

import pytest

AGENTS = Path(__file__).parents[2] / "src" / "mlagentbench" / "agents"
FORBIDDEN = {
    "time",
    "datetime",
    "random",
    "secrets",
    "uuid",
    "os",
    "socket",
    "subprocess",
}
CONTRACT = "context.py"


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(
    "path",
    [path for path in AGENTS.rglob("*.py") if path.name != CONTRACT],
    ids=lambda path: path.stem,
)
def test_an_agent_has_no_clock_and_no_dice_of_its_own(path):
    assert not FORBIDDEN & set(imported(path))
