"""A study on Ray: two nodes against one, a node that is lost, the cost of one cell.

The study has 24 runs of house-price: 6 of `tuner` with 3 trials, and 18 of `bash` with
a scripted model that waits 5 s before each of its 4 replies. The nodes are real Ray
nodes with one CPU each on this machine, and each works in a private folder. The clock
starts with the first cell, when the nodes are up and data and environments are ready.

It takes about 40 minutes, so it is part of `make cluster`. `--pairs N` sets how often
the speed is measured, `--wait SECONDS` how long the model waits, `--small` takes a
quarter of the cells. Name parts to run only those: speed, lost, cell.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mlagentbench.study.cell import Cell
from mlagentbench.study.driver import Driver, DriverOptions, SilentObserver, StudyEnd
from mlagentbench.study.executor import CellEvent, CellRequest, Executor, Outcome
from mlagentbench.study.local_executor import LocalExecutor
from mlagentbench.study.ray_executor import RayExecutor
from mlagentbench.study.store import FolderStore
from mlagentbench.study.study_plan import load_study

LIMIT_RATIO = 1.8
LIMIT_SECONDS = 1.5
SAMPLE = 5
WAIT = "MLAB_BENCHMARK_WAIT"

STUDY = """
name = "ray"
[[cells]]
tasks = ["house-price"]
agents = [{{ name = "tuner", settings = {{ trials = 3 }} }}]
models = []
seeds = {tuner}
[[cells]]
tasks = ["house-price"]
agents = [{{ name = "bash", settings = {{ protocol = "tools" }} }}]
models = ["scripted/study_ray:respond"]
seeds = {bash}
"""
COMMANDS = ("ls", "cat train.py", "python train.py")
TIMES_AND_PLACES = {
    *("seconds", "cpu_seconds", "calibration_seconds", "created", "resumed"),
}


def respond(messages: list[Any]) -> dict[str, Any]:
    """Wait, then request the next of three commands, or submit."""
    time.sleep(float(os.environ.get(WAIT, "5")))
    turn = sum(message.role == "assistant" for message in messages)
    if turn < len(COMMANDS):
        call = {"name": "run_command", "arguments": {"command": COMMANDS[turn]}}
    else:
        call = {"name": "final_answer", "arguments": {"final_answer": "done"}}
    return {"tool_calls": [call]}


def main() -> int:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["speed", "lost", "cell"])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--wait", type=float, default=5)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    os.environ[WAIT] = str(options.wait)
    parts = {"speed": speed, "lost": lost, "cell": one_cell}
    with tempfile.TemporaryDirectory(prefix="mlab-bench-") as name:
        folder = Path(name)
        # Builds the data and the environment, if the cache lacks them.
        mlab_run(folder)
        (folder / "study.toml").write_text(
            STUDY.format(tuner=2, bash=4)
            if options.small
            else STUDY.format(tuner=6, bash=18)
        )
        cells = list(load_study(folder / "study.toml").cells)
        with Nodes(folder) as nodes:
            failed = [
                part
                for part in options.parts
                if not parts[part](folder, cells, nodes, options)
            ]
    return 1 if failed else 0


class Nodes:
    """A Ray cluster on this machine whose nodes come and go."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        """Start a head node that runs no cell; `env` is added to that of nodes."""
        # Unix sockets have short paths, and Ray keeps its own in this folder.
        self._temporary = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        (self._temporary / "ray").mkdir()
        os.environ.update(RAY_TMPDIR=str(self._temporary), RAY_USAGE_STATS_ENABLED="0")
        from ray.cluster_utils import Cluster

        self._folder = folder
        self._env = env or {}
        self._cluster = _try_thrice(
            Cluster,
            initialize_head=True,
            head_node_args={
                "num_cpus": 0,
                "include_dashboard": False,
                "object_store_memory": 100 << 20,
            },
        )
        self._nodes: list[tuple[Any, Path]] = []

    def __enter__(self) -> "Nodes":
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()
        shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def address(self) -> str:
        """The address of the cluster."""
        return str(self._cluster.address)

    @property
    def sessions(self) -> Path:
        """The folder in which Ray keeps its logs and its files."""
        return self._temporary

    def want(self, number: int) -> RayExecutor:
        """Have so many nodes, and return an executor that uses them."""
        while len(self._nodes) > number:
            self.kill_one()
        while len(self._nodes) < number:
            self._add()
        self._cluster.wait_for_nodes()
        return RayExecutor(self.address)

    def _add(self) -> None:
        private = self._folder / f"node-{uuid.uuid4().hex[:8]}"
        private.mkdir()
        node = _try_thrice(
            self._cluster.add_node,
            num_cpus=1,
            memory=8 << 30,
            object_store_memory=100 << 20,
            env_vars={**self._env, "MLAB_SCRATCH": str(private)},
        )
        self._nodes.append((node, private))

    def kill_one(self) -> Path:
        """Kill a node, and delete the folder that it works in."""
        import psutil

        node, private = self._nodes.pop()
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        processes = [raylet, *raylet.children(recursive=True)]
        # All at once, as a machine dies. Ray leaves workers some time to end.
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes)
        self._cluster.remove_node(node, allow_graceful=False)
        shutil.rmtree(private, ignore_errors=True)
        return private


def _try_thrice(start: Callable[..., Any], **options: object) -> Any:  # noqa: ANN401  # Ray's
    """Start a node; Ray gives up after 30 s, too soon on a busy machine."""
    for _ in range(2):
        try:
            return start(**options)
        except Exception as error:  # noqa: BLE001  # Ray raises plain ones
            print(f"Ray did not start: {error}", file=sys.stderr)
    return start(**options)


class Clock(SilentObserver):
    """Measures from the start of the first cell to the end of the last one."""

    def __init__(self, at_event: Callable[[CellEvent], None] | None = None) -> None:
        self.events: list[CellEvent] = []
        self._at_event = at_event or (lambda _: None)
        self._first = self._last = 0.0

    def cell_changed(self, event: CellEvent) -> None:
        """Keep the event."""
        self._last = time.perf_counter()
        self._first = self._first or self._last
        self.events.append(event)
        self._at_event(event)

    @property
    def seconds(self) -> float:
        return self._last - self._first

    def ends(self, outcome: Outcome) -> Counter[str]:
        """Count the ends of each cell that had this outcome."""
        return Counter(event.cell for event in self.events if event.outcome is outcome)


def speed(
    folder: Path, cells: list[Cell], nodes: Nodes, options: argparse.Namespace
) -> bool:
    """Compare one node with two, in pairs that follow each other."""
    ratios = []
    for pair in range(options.pairs):
        taken = {}
        for number in (1, 2):
            store = new_store(folder / f"speed-{pair}-{number}")
            clock = Clock()
            run(store, cells, nodes.want(number), clock)
            taken[number] = clock.seconds
        ratios.append(taken[1] / taken[2])
        print(
            f"pair {pair + 1}: 1 node {taken[1]:.1f} s, 2 nodes {taken[2]:.1f} s,"
            f" ratio {ratios[-1]:.2f}",
            flush=True,
        )
    ratio = statistics.median(ratios)
    print(f"{len(cells)} cells: median ratio {ratio:.2f} (at least {LIMIT_RATIO:g})")
    return ratio >= LIMIT_RATIO


def lost(
    folder: Path, cells: list[Cell], nodes: Nodes, options: argparse.Namespace
) -> bool:
    """Kill one of two nodes under way, and compare the results with local ones."""
    store = new_store(folder / "lost")
    killed: set[str] = set()
    copied: set[str] = set()

    def kill_a_node(_: CellEvent) -> None:
        """Kill it when a quarter of the cells has ended and one has a copy."""
        running = {
            name.split("/")[1] for name in store.names("progress/") if "/trace/" in name
        }
        if killed or len(store.published()) < len(cells) / 4 or len(running) < 2:
            return
        killed.add(str(nodes.kill_one()))
        copied.update(running)

    clock = Clock(kill_a_node)
    end = run(store, cells, nodes.want(2), clock)
    os.environ[WAIT] = "0"
    reference = new_store(folder / "local")
    run(reference, cells, LocalExecutor(2), Clock())
    os.environ[WAIT] = str(options.wait)

    lost_cells = clock.ends(Outcome.LOST)
    cards, expected = scorecards(store), scorecards(reference)
    resumed = {cell for cell, card in cards.items() if card["resumed"]}
    restarted = (lost_cells.keys() & copied) - resumed
    twice = [cell for cell, n in clock.ends(Outcome.PUBLISHED).items() if n > 1]
    differ = [
        cell for cell in cards if comparable(cards[cell]) != comparable(expected[cell])
    ]
    print(
        f"one of 2 nodes killed: {end.published} of {len(cells)} cells published,"
        f" {len(lost_cells)} lost, {len(resumed)} resumed, {len(restarted)} restarted"
        f" that could be resumed, {len(twice)} published twice, {len(differ)}"
        " scorecards unlike those of local"
    )
    for cell in differ:
        print(json.dumps([comparable(cards[cell]), comparable(expected[cell])]))
    complete = end.published == len(cells) and bool(lost_cells)
    return complete and not restarted and not twice and not differ


def one_cell(
    folder: Path, cells: list[Cell], nodes: Nodes, options: argparse.Namespace
) -> bool:
    """Compare a cell on a node that is warm with `mlab run`."""
    os.environ[WAIT] = "0"
    executor, more = nodes.want(1), []
    store = new_store(folder / "one")
    try:
        for number in range(SAMPLE + 1):
            changed = {"agent": "starter", "settings": {}, "seed": number}
            cell = cells[0].model_copy(update=changed)
            alone = timed(mlab_run, folder)
            on_ray = timed(run_one, executor, store, cell)
            more.append(on_ray - alone)
            print(f"mlab run {alone:.2f} s, cell on Ray {on_ray:.2f} s", flush=True)
    finally:
        executor.close()
        os.environ[WAIT] = str(options.wait)
    # The first cell starts a worker of Ray.
    extra = statistics.median(more[1:])
    print(f"a warm cell costs {extra:+.2f} s (at most {LIMIT_SECONDS:g})")
    return extra <= LIMIT_SECONDS


def run(
    store: FolderStore, cells: list[Cell], executor: Executor, clock: Clock
) -> StudyEnd:
    end = Driver(store, cells, executor, DriverOptions(), clock).run()
    if end.missing:
        print(f"missing: {dict(end.failed) or end.missing}")
    return end


def run_one(executor: Executor, store: FolderStore, cell: Cell) -> None:
    study = json.loads(store.read("study.json") or "")["id"]
    executor.submit([CellRequest(cell=cell, store=store.address, study=study)])
    while True:
        for event in executor.watch(10):
            if event.kind == "ended":
                if event.outcome is not Outcome.PUBLISHED:
                    raise SystemExit(f"the cell ended as {event.outcome}")
                return


def mlab_run(folder: Path) -> None:
    """Run the starter with the command line."""
    mlab = Path(sys.executable).parent / "mlab"
    subprocess.run(
        [mlab, "run", "house-price", "--agent", "starter", "--out", folder / "runs"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def timed(work: Callable[..., object], *given: object) -> float:
    clock = time.perf_counter()
    work(*given)
    return time.perf_counter() - clock


def new_store(folder: Path) -> FolderStore:
    store = FolderStore(folder)
    about = {"id": uuid.uuid4().hex, "name": "ray", "created": "2026-11-18T00:00:00"}
    store.create("study.json", json.dumps(about).encode())
    return store


def scorecards(store: FolderStore) -> dict[str, dict[str, Any]]:
    """Return the last scorecard of each published cell."""
    return {
        cell: json.loads(summary.scorecards.splitlines()[-1])
        for cell, summary in store.summaries(store.published())
    }


def comparable(value: object) -> object:
    """Leave times and places out of a scorecard."""
    if isinstance(value, dict):
        kept = value.items()
        return {key: comparable(v) for key, v in kept if key not in TIMES_AND_PLACES}
    if isinstance(value, list):
        return [comparable(one) for one in value]
    return value


if __name__ == "__main__":
    sys.exit(main())
