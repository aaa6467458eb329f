"""What every test may use."""

import os
from pathlib import Path

import pytest

from mlagentbench.run.places import default_cache


@pytest.fixture(scope="session")
def cache() -> Path:
    """The cache whose environments and data the tests share; building is slow."""
    chosen = os.environ.get("MLAB_TEST_CACHE")
    return Path(chosen) if chosen else default_cache()
