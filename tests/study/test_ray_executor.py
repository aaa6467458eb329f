"""Studies on a real Ray cluster of two nodes on this machine."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.study_ray import Nodes, comparable
from loopback import provider
from tests.support.studies import (
    Watcher,
    new_store,
    process_of,
    quick_cell,
    run_cells,
    scorecards,
    wait_for_copied_steps,
)

from mlagentbench.study.cell import Resources
from mlagentbench.study.driver import Driver, DriverOptions
from mlagentbench.study.executor import Outcome

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WALK = "tests.support.walkers:walk"
PATHS = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "end_to_end")))


@pytest.fixture(scope="module")
def nodes(cache, tmp_path_factory):
    pytest.importorskip("ray", reason="Ray is not installed; run `make .venv/.dev`")
    env = {"MLAB_CACHE": str(cache), "PYTHONPATH": PATHS}
    with Nodes(tmp_path_factory.mktemp("nodes"), env) as nodes:
        yield nodes


def run_on_ray(store, cells, executor, watcher=None, **options):
    options.setdefault("copy_seconds", 0.0)
    return Driver(store, cells, executor, DriverOptions(**options), watcher).run()


def walkers(tmp_path, number=2):
    settings = {"go": str(tmp_path / "go")}
    return [quick_cell(seed, WALK, settings=settings) for seed in range(number)]


def ends(watcher):
    return Counter(event.outcome for event in watcher.events if event.kind == "ended")


def test_cells_of_a_killed_node_are_resumed_on_another(nodes, store, tmp_path):
    cells = walkers(tmp_path)

    def kill_a_node(event):
        # The copies of a cell are removed when it is published.
        killed = (tmp_path / "go").exists()
        if event.steps == 2 and len(watcher.starts()) == 2 and not killed:
            for cell in cells:
                wait_for_copied_steps(store, cell.id, 2)
            nodes.kill_one()
            (tmp_path / "go").touch()

    watcher = Watcher(kill_a_node)
    end = run_on_ray(store, cells, nodes.want(2), watcher)
    assert (end.published, end.failed) == (2, {})
    assert ends(watcher) == {Outcome.LOST: 1, Outcome.PUBLISHED: 2}
    cards = scorecards(store)
    assert sorted(card["resumed"] for card in cards.values()) == [0, 1]
    # The places differ, so the cells ran beside each other.
    places = {event.place.partition(",")[0] for event in watcher.events if event.place}
    assert len(places) == 2

    local = new_store(tmp_path / "local")
    run_cells(local, cells)
    expected = {cell: comparable(card) for cell, card in scorecards(local).items()}
    assert {cell: comparable(card) for cell, card in cards.items()} == expected


def test_results_return_through_ray_without_the_study_s_folder(
    nodes, tmp_path, monkeypatch
):
    executor = nodes.want(1)
    # Nodes have another working directory, and so do not see this folder.
    monkeypatch.chdir(tmp_path)
    store = new_store(Path("/proc/self/cwd/study"))
    good = quick_cell()
    broken = quick_cell(agent="no_such_module:agent")
    large = quick_cell(1, resources=Resources(gpus=64))
    places = []

    class Places(Watcher):
        def cell_changed(self, event):
            super().cell_changed(event)
            if event.kind == "step":
                found = store.read(f"work/{event.cell}/place.json")
                places.append(json.loads(found)["place"])

    watcher = Places()
    end = run_on_ray(store, [good, broken, large], executor, watcher)
    assert end.published == 1
    assert set(end.failed) == {broken.id, large.id}
    assert "no node of the cluster has 1 CPUs, 64 GPUs" in end.failed[large.id]
    assert "no_such_module" in end.failed[broken.id]
    failed = json.loads(store.read(f"work/{broken.id}/failed.json"))
    assert "no_such_module" in failed["reason"]
    assert "starts again if the node is lost" in places[0]
    assert scorecards(store)[good.id]["ending"] == "submitted"
    assert store.names(f"work/{good.id}/") == []


def test_keys_reach_the_cells_and_connections_are_bounded(nodes, store, monkeypatch):
    with provider("thinker:script", ("rate_limit",) * 2) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        cells = [
            quick_cell(seed, "thinker:thinker", model=server.model) for seed in range(2)
        ]
        limits = {"openai-api/loopback": 1}
        end = run_on_ray(store, cells, nodes.want(2), connections=limits)
        key = server.environment["LOOPBACK_API_KEY"].encode()
    assert (end.published, end.failed) == (2, {})
    assert (server.most_open, len(server.requests)) == (1, 2 * 8 + 2)
    files = [path for path in nodes.sessions.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if key in path.read_bytes()] == []


DRIVE = """
import sys
from pathlib import Path
from tests.study.test_ray_executor import Watcher, run_on_ray, walkers
from mlagentbench.study.ray_executor import RayExecutor
from mlagentbench.study.store import FolderStore
class Printer(Watcher):
    def cell_changed(self, event):
        print(event.model_dump_json(), flush=True)
store, folder = FolderStore(Path(sys.argv[1])), Path(sys.argv[2])
run_on_ray(store, walkers(folder), RayExecutor(sys.argv[3]), Printer())
"""


def test_cells_end_with_a_killed_driver_and_the_next_one_resumes_them(
    nodes, store, tmp_path
):
    executor = nodes.want(2)
    cells = walkers(tmp_path)
    command = [sys.executable, "-c", DRIVE, store.folder, tmp_path, nodes.address]
    env = os.environ | {"PYTHONPATH": PATHS}
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as driver:
        started = {}
        for line in driver.stdout:
            event = json.loads(line)
            if event["kind"] == "started":
                started[event["cell"]] = int(event["place"].rpartition(" ")[2])
            if len(started) == 2:
                break
        for cell in cells:
            wait_for_copied_steps(store, cell.id, 2)
        driver.kill()
    while any(Path(f"/proc/{pid}").exists() for pid in started.values()):
        time.sleep(0.1)
    (tmp_path / "go").touch()
    end = run_on_ray(store, cells, executor)
    assert (end.published, end.failed) == (2, {})
    assert {card["resumed"] for card in scorecards(store).values()} == {1}


def test_cancelled_cells_end_gracefully(nodes, store, tmp_path):
    cells = walkers(tmp_path, 4)
    watcher = Watcher(lambda _: store.replace("cancel.json", b'{"running": true}'))
    end = run_on_ray(store, cells, nodes.want(2), watcher)
    assert (end.published, end.failed) == (0, {})
    assert ends(watcher) == {Outcome.INTERRUPTED: 4}
    pids = {process_of(event) for event in watcher.events if event.kind == "step"}
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert store.names("progress/")
