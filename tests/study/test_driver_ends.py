"""Studies that are stopped, limited, repeated or killed end and continue well."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from loopback import provider
from tests.support.studies import (
    Watcher,
    quick_cell,
    run_cells,
    scorecards,
)

from mlagentbench.evaluation.cost import Price
from mlagentbench.experiment.plan import TotalLimits
from mlagentbench.study.executor import Outcome
from mlagentbench.study.local_executor import Machine

pytestmark = pytest.mark.slow

WALK = "tests.support.walkers:walk"
STOP = b'{"running": true}'


def thinker(seed):
    """A cell that costs $3.60."""
    model = "scripted/thinker:script"
    prices = {model: Price(input=1000, output=0)}
    return quick_cell(seed, "thinker:thinker", model=model, prices=prices)


def outcomes(watcher):
    ends = (event for event in watcher.events if event.kind == "ended")
    return Counter(event.outcome for event in ends)


def test_after_the_total_cost_no_cell_starts(store):
    cells = [thinker(seed) for seed in range(3)]
    limit = TotalLimits(cost_usd=2)
    end = run_cells(store, cells, parallel=1, total=limit)
    assert (end.published, end.failed) == (1, {})
    # A running cell finishes.
    assert end.stopped == "the study has cost $2.10, and --max-total-cost is $2.00"
    # The cost of the first driver counts.
    watcher = Watcher()
    assert run_cells(store, cells, watcher, total=limit).published == 1
    assert watcher.events == []
    assert run_cells(store, cells, parallel=1).published == 3


def test_again_sets_results_aside_and_repeats_them(store):
    cells = [quick_cell(0, WALK), quick_cell(1, WALK)]
    run_cells(store, cells)
    watcher = Watcher()
    assert run_cells(store, cells[:1], watcher, again=True).published == 1
    assert watcher.starts() == [cells[0].id]
    assert [one.name for one in (store.folder / "replaced").iterdir()] == [
        f"{cells[0].id}-1"
    ]


def test_cancelled_study_finishes_what_runs(store):
    cells = [quick_cell(seed, WALK) for seed in range(2)]
    watcher = Watcher(lambda _: store.replace("cancel.json", b'{"running": false}'))
    end = run_cells(store, cells, watcher, parallel=1)
    assert (end.published, end.stopped) == (1, "the study was cancelled")


def test_cancelled_study_ends_and_continues(store, tmp_path):
    settings = {"go": str(tmp_path / "go")}
    cells = [quick_cell(seed, WALK, settings=settings) for seed in range(3)]
    watcher = Watcher(lambda _: store.replace("cancel.json", STOP))
    end = run_cells(store, cells, watcher)
    assert (end.published, end.failed) == (0, {})
    assert end.stopped == "the study was cancelled"
    assert outcomes(watcher) == {Outcome.INTERRUPTED: 3}
    store.delete("cancel.json")
    (tmp_path / "go").touch()
    assert run_cells(store, cells).published == 3
    assert max(card["resumed"] for card in scorecards(store).values()) == 1


def test_cell_whose_process_always_dies_fails(store):
    cell = quick_cell(0, "tests.support.walkers:kill_harness")
    watcher = Watcher()
    end = run_cells(store, [cell], watcher)
    assert end.failed == {cell.id: "lost 4 times: its process ended with SIGKILL"}
    assert len(watcher.starts()) == 4


DRIVE = """
import json, sys
from tests.support.studies import FolderStore, Watcher, run_cells, quick_cell
from pathlib import Path
store = FolderStore(Path(sys.argv[1]))
class Printer(Watcher):
    def cell_changed(self, event):
        print(event.model_dump_json(), flush=True)
run_cells(store, [quick_cell(n, *json.loads(sys.argv[2])) for n in range(4)], Printer())
"""


@contextmanager
def started_driver(store, agent=WALK):
    """Run a driver of four cells in a process of its own; kill it at the end."""
    command = [sys.executable, "-c", DRIVE, str(store.folder), json.dumps([agent])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(["src", ".", "tests/end_to_end"])}
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, env=env, cwd=root, stdout=subprocess.PIPE, text=True
    ) as driver:
        try:
            yield driver
        finally:
            driver.kill()


def read_until(driver, kind, number):
    """Read events until so many of a kind have come, or the last; return them all."""
    events = []
    for line in driver.stdout:
        events.append(json.loads(line))
        if sum(event["kind"] == kind for event in events) == number:
            break
    return events


def are_gone(events):
    pids = {process_of_line(event) for event in events if event["place"]}
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


def process_of_line(event):
    return int(event["place"].rpartition(" ")[2])


def test_every_cell_is_published_once_though_drivers_are_killed(store):
    moments = random.Random(24)
    for _ in range(4):
        with started_driver(store) as driver:
            events = read_until(driver, "step", moments.randint(1, 6))
        assert are_gone(events)
    cells = [quick_cell(seed, WALK) for seed in range(4)]
    assert run_cells(store, cells).published == 4
    cards = scorecards(store)
    assert {card["ending"] for card in cards.values()} == {"submitted"}
    assert {card["steps"] for card in cards.values()} == {5}
    assert not (store.folder / "replaced").exists()
    for one in (store.folder / "cells").iterdir():
        assert len((one / "scorecards.jsonl").read_text().splitlines()) == 1


def test_ctrl_c_ends_running_cells_and_leaves_no_process(store):
    with started_driver(store) as driver:
        events = read_until(driver, "started", 2)
        driver.send_signal(signal.SIGINT)
        out, _ = driver.communicate(timeout=300)
        events += map(json.loads, out.splitlines())
    ends = Counter(event["outcome"] for event in events if event["kind"] == "ended")
    assert ends["interrupted"] >= 2
    assert ends.keys() <= {"interrupted", "published"}
    assert are_gone(events)


def test_connections_are_bounded_over_all_processes(store, monkeypatch):
    with provider("thinker:script", ("rate_limit",) * 5) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        answer = server.respond

        def answer_together(messages):
            # The first replies wait for each other, so that connections run out.
            while server.most_open < 4:
                time.sleep(0.05)
            time.sleep(0.3)
            return answer(messages)

        server.respond = answer_together
        cells = [
            quick_cell(seed, "thinker:thinker", model=server.model) for seed in range(6)
        ]
        machine = Machine(cpus=6, memory_gb=64)
        limits = {"openai-api/loopback": 4}
        end = run_cells(store, cells, parallel=6, machine=machine, connections=limits)
    assert end.failed == {}
    assert end.published == 6
    assert server.most_open == 4
    assert len(server.requests) == 6 * 8 + 5
