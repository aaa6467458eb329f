"""One folder on the machine for all faults."""

import pytest
from tests.faults.harness import Place


@pytest.fixture(scope="package")
def place(tmp_path_factory, cache) -> Place:
    return Place(tmp_path_factory.mktemp("faults"), cache)
