"""One stage for all attacks; what they leave behind is looked for at its end."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
# The suite is a program as well: `python -m tests.redteam`.
sys.path.insert(0, str(PROJECT))

from tests.redteam.stage import Stage, open_stage  # noqa: E402


@pytest.fixture(scope="module")
def stage(cache: Path) -> Iterator[Stage]:
    with open_stage(cache) as opened:
        yield opened
