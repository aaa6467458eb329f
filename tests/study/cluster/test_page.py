"""The commands of docs/cluster.md, on real clusters."""

import importlib.util
import os
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.support.slurm import slurm_on_loopback

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def fresh():
    path = PROJECT / "tools" / "fresh.py"
    spec = importlib.util.spec_from_file_location("fresh", path)
    module = sys.modules["fresh"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("engine", "cluster"), [("slurm", slurm_on_loopback), ("ray", nullcontext)]
)
def test_commands_of_the_page_work(engine, cluster, fresh, tmp_path, cache):
    blocks = fresh.chosen(["docs/cluster.md"], {engine})
    assert any("mlab study" in block.script for block in blocks)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with cluster():
        environment = {"PATH": path, "MLAB_CACHE": str(cache)}
        assert fresh.run_blocks(blocks, tmp_path, environment) == []
    assert len([*tmp_path.glob("runs/*/cells/*")]) == sum(
        block.script.count("mlab study") * 2 for block in blocks
    )
