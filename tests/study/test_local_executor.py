"""Local processes start as cores, memory and GPUs allow.

The processes wait for their store, whose `study.json` is a pipe that nobody writes.
"""

import os
from pathlib import Path

import pytest
from tests.support.studies import quick_cell

from mlagentbench.study.cell import Resources
from mlagentbench.study.executor import CellRequest, Outcome
from mlagentbench.study.local_executor import LocalExecutor, Machine


@pytest.fixture
def start(tmp_path):
    """Submit cells with the given needs; return the executor once some have started."""
    os.mkfifo(tmp_path / "study.json")
    made = []

    def started(machine, *needs, parallel=8):
        executor = LocalExecutor(parallel, machine=machine)
        made.append(executor)
        executor.submit(
            [
                CellRequest(
                    cell=quick_cell(seed, resources=Resources(**one)),
                    store=str(tmp_path),
                    study="x",
                )
                for seed, one in enumerate(needs)
            ]
        )
        executor.events = executor.watch(0)
        return executor

    yield started
    for executor in made:
        executor.close()


def waiting(executor):
    """The numbers of the cells that have not started."""
    return sorted(int(cell.split("-")[2]) for cell in executor.queued())


def gpus_of_children():
    """The GPUs that each process of a cell sees."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    environments = (Path(f"/proc/{pid}/environ").read_bytes() for pid in children)
    variables = (one.split(b"\0") for one in environments)
    name = b"CUDA_VISIBLE_DEVICES="
    return sorted(
        one.removeprefix(name).decode()
        for lines in variables
        for one in lines
        if one.startswith(name)
    )


def test_cells_share_cores_and_memory(start):
    two = Machine(cpus=2, memory_gb=16)
    assert waiting(start(two, {}, {"cpus": 2}, {})) == [1]
    assert waiting(start(two, {"memory_gb": 10}, {"memory_gb": 10}, {})) == [1]
    assert waiting(start(two, {}, {}, parallel=1)) == [1]
    # A cell that needs more than there is runs alone.
    assert waiting(start(two, {"cpus": 4, "memory_gb": 64}, {})) == [1]


def test_each_cell_sees_its_own_gpus(start):
    machine = Machine(cpus=8, memory_gb=64, gpus=("0", "1"))
    executor = start(
        machine, {"gpus": 1}, {"gpus": 0.5}, {"gpus": 0.5}, {}, {"gpus": 1}
    )
    assert waiting(executor) == [4]
    assert gpus_of_children() == ["", "0", "1", "1"]


def test_cell_that_needs_more_gpus_than_there_are_fails(start):
    executor = start(Machine(cpus=2, memory_gb=16), {"gpus": 1})
    (event,) = executor.events
    assert event.outcome is Outcome.FAILED
    assert event.reason == "it needs 1 GPUs; this machine has none"


def test_every_cancelled_cell_ends(start):
    executor = start(Machine(cpus=1, memory_gb=16), {}, {})
    executor.cancel(running=False)
    (event,) = executor.watch(0)
    assert (event.outcome, event.cell) == (Outcome.INTERRUPTED, quick_cell(1).id)
    executor.cancel(running=True)
    (event,) = executor.watch(60)
    assert (event.outcome, event.cell) == (Outcome.INTERRUPTED, quick_cell(0).id)
