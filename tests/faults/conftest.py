"""One corner of the machine for all faults, and runs that nothing happens to."""

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
# The faults are used by `tools/soak.py` as well, as `tests.faults`.
sys.path.insert(0, str(PROJECT))

from tests.faults.place import Place  # noqa: E402


@pytest.fixture(scope="package")
def place(tmp_path_factory, cache) -> Place:
    return Place(tmp_path_factory.mktemp("faults"), cache)
