"""A driver with local processes: every cell is published once, whatever happens."""

import json
import os
import signal
import threading

import pytest
from tests.support.studies import (
    Watcher,
    process_of,
    quick_cell,
    run_cells,
    scorecards,
    wait_for_copied_steps,
)

from mlagentbench.experiment.plan import TotalLimits
from mlagentbench.study.executor import Outcome

BROKEN = quick_cell(agent="no_such_module:agent")


def walker(tmp_path, seed=0):
    settings = {"go": str(tmp_path / "go")}
    return quick_cell(seed, "tests.support.walkers:walk", settings=settings)


@pytest.mark.slow
def test_driver_runs_what_is_missing_and_nothing_twice(store):
    walk = "tests.support.walkers:walk"
    cells = [quick_cell(0), quick_cell(0, walk)]
    end = run_cells(store, [*cells, BROKEN])
    assert set(end.failed) == {BROKEN.id} == set(end.missing)
    assert "no_such_module" in end.failed[BROKEN.id]
    failed = json.loads(store.read(f"work/{BROKEN.id}/failed.json"))
    assert failed["attempts"] == 1
    cards = scorecards(store)
    assert cards.keys() == {cell.id for cell in cells}
    assert {card["ending"] for card in cards.values()} == {"submitted"}
    assert store.names(f"work/{cells[0].id}/") == []

    # An edited file adds a cell. The broken one is tried again.
    about = store.folder / "cells" / cells[0].id / "cell.json"
    about.write_text(about.read_text().replace('"harness": "', '"harness": "0'))
    more, watcher = quick_cell(1, walk), Watcher()
    end = run_cells(store, [*cells, more, BROKEN], watcher)
    assert watcher.started == (4, 2)
    assert {event.cell for event in watcher.events} == {more.id, BROKEN.id}
    assert watcher.notices == [
        "cells published by another version of mlagentbench: 1; --again repeats them"
    ]
    failed = json.loads(store.read(f"work/{BROKEN.id}/failed.json"))
    assert failed["attempts"] == 2

    watcher = Watcher()
    end = run_cells(store, [*cells, more], watcher)
    assert (end.published, end.missing, watcher.events) == (3, (), [])


@pytest.mark.slow
def test_killed_process_is_resumed(store, tmp_path):
    cell = walker(tmp_path)

    def kill_after_second_step(event):
        go = tmp_path / "go"
        if event.steps == 2 and not go.exists():
            wait_for_copied_steps(store, cell.id, 2)
            os.kill(process_of(event), signal.SIGKILL)
            go.touch()

    watcher = Watcher(kill_after_second_step)
    assert run_cells(store, [cell], watcher).published == 1
    ends = [event for event in watcher.events if event.kind == "ended"]
    assert [end.outcome for end in ends] == [Outcome.LOST, Outcome.PUBLISHED]
    assert ends[0].reason == "its process ended with SIGKILL"
    card = scorecards(store)[cell.id]
    assert (card["resumed"], card["steps"]) == (1, 5)


@pytest.mark.slow
def test_two_drivers_run_no_cell_twice(store, tmp_path):
    cells = [walker(tmp_path, seed) for seed in range(2)]

    class Second(Watcher):
        def study_started(self, cells, published):
            # The first driver has started a cell, which waits.
            (tmp_path / "go").touch()

    second = Second()
    other = threading.Thread(target=run_cells, args=(store, cells, second))
    first = Watcher(lambda _: other.is_alive() or other.ident or other.start())
    assert run_cells(store, cells, first).published == 2
    other.join()
    assert sorted(first.starts() + second.starts()) == sorted(c.id for c in cells)
    assert {card["resumed"] for card in scorecards(store).values()} == {0}


def test_after_the_total_hours_no_cell_starts(store):
    watcher = Watcher()
    limits = TotalLimits(hours=1e-9)
    end = run_cells(store, [quick_cell()], watcher, total=limits)
    assert end.missing == (quick_cell().id,)
    assert end.stopped == "the study has run for --max-total-hours 1e-09"
    assert watcher.events == []
