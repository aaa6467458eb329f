"""Leases: one owner at a time, and none that a dead owner keeps."""

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlagentbench.core import (
    FolderFiles,
    Holder,
    exclusive_lock,
    lease_holder,
    take_lease,
)

TAKER = """
import sys
from pathlib import Path
from mlagentbench.core import FolderFiles, take_lease
files = FolderFiles(Path(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    print("no" if take_lease(files, "work/a/") is None else "mine", flush=True)
"""


class Taker:
    """A process that takes the lease of one folder when it is asked."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_ready(self):
        assert self.process.stdout.readline() == "ready\n"

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def takers(tmp_path):
    made = []

    def start(number):
        new = [Taker(tmp_path) for _ in range(number)]
        made.extend(new)
        for taker in new:
            taker.wait_ready()
        return new

    yield start
    for taker in made:
        taker.kill()


@pytest.fixture
def files(tmp_path):
    return FolderFiles(tmp_path)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def elsewhere(files, name, **changed):
    """Make a lease look like that of a process on another machine."""
    holder = Holder.model_validate_json(files.read(name))
    other = holder.model_copy(update={"boot": "0" * 16} | changed)
    files.replace(name, other.model_dump_json().encode())


def test_of_many_processes_one_takes_the_lease_and_its_death_frees_it(takers, files):
    racing = takers(16)
    for _ in range(3):
        for taker in racing:
            taker.ask()
        answers = [taker.answer() for taker in racing]
        assert answers.count("mine") == 1
        # No time passes: the dead owner is seen.
        racing.pop(answers.index("mine")).kill()
    assert len(files.names("work/a/")) == 1


def test_owner_that_died_before_its_parent_noticed_holds_nothing(takers, files):
    (taker,) = takers(1)
    taker.ask()
    assert taker.answer() == "mine"
    assert lease_holder(files, "work/a/").pid == taker.process.pid
    os.kill(taker.process.pid, signal.SIGKILL)
    while lease_holder(files, "work/a/"):
        time.sleep(0.01)
    assert taker.process.returncode is None


def test_owner_on_another_machine_loses_the_lease_only_by_time(files):
    clock = Clock()
    lease = take_lease(files, "", ttl=60, clock=clock)
    elsewhere(files, "lease-1.json", pid=2**30)
    clock.now += 60
    assert take_lease(files, "", clock=clock) is None
    clock.now += 1
    assert take_lease(files, "", clock=clock).number == 2
    assert not lease.renew()
    assert lease.lost


def test_renewed_lease_lasts_from_then_on(files):
    clock = Clock()
    lease = take_lease(files, "", ttl=60, clock=clock)
    clock.now += 50
    assert lease.renew()
    elsewhere(files, "lease-1.json")
    clock.now += 50
    assert take_lease(files, "", clock=clock) is None


def test_process_with_a_reused_number_is_another_process(files):
    take_lease(files, "")
    holder = Holder.model_validate_json(files.read("lease-1.json"))
    reused = holder.model_copy(update={"started": holder.started + 1})
    files.replace("lease-1.json", reused.model_dump_json().encode())
    assert lease_holder(files, "") is None
    assert take_lease(files, "").number == 2


def test_released_lease_is_free_and_the_old_owner_cannot_renew_it(files):
    first = take_lease(files, "")
    first.release()
    second = take_lease(files, "")
    assert second is not None
    assert not first.renew()
    first.release()
    assert second.renew()


def test_old_look_at_the_names_takes_nothing(files):
    class Late(FolderFiles):
        """Names as they were before two others had the lease."""

        late = True

        def names(self, prefix):
            if self.late:
                self.late = False
                take_lease(files, "").release()
                take_lease(files, "")
                return []
            return super().names(prefix)

    late = Late(files.folder)
    assert take_lease(late, "") is None
    assert files.names("") == ["lease-2.json"]


def test_lease_whose_files_are_gone_is_lost(files):
    lease = take_lease(files, "work/a/")
    files.delete("work/a/lease-1.json")
    assert not lease.renew()
    assert files.names("") == []


def test_lease_is_released_on_a_full_disk(files):
    class Full(FolderFiles):
        def replace(self, name, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    with take_lease(Full(files.folder), "").kept():
        assert lease_holder(files, "") is not None
    assert lease_holder(files, "") is None


def test_damaged_lease_is_free(files):
    files.create("lease-4.json", b"")
    assert take_lease(files, "").number == 5


def test_lease_is_kept_by_a_thread_that_tells_when_it_is_lost(files):
    clock, lost = Clock(), []
    lease = take_lease(files, "", clock=clock)
    with lease.kept(on_lost=lambda: lost.append(1), every=0.01):
        clock.now += 5
        while lease_holder(files, "").renewed < clock.now:
            time.sleep(0.01)
        files.create("lease-2.json", b"{}")
        while not lost:
            time.sleep(0.01)
    assert files.names("") == ["lease-1.json", "lease-2.json"]


def test_lease_names_neither_host_nor_user(files):
    take_lease(files, "")
    text = files.read("lease-1.json").decode()
    assert os.uname().nodename not in text
    assert str(files.folder) not in text


def test_lock_excludes_processes_and_threads(tmp_path):
    counted = tmp_path / "count"
    counted.write_text("0")

    def count():
        for _ in range(5):
            with exclusive_lock(tmp_path / "new" / "lock"):
                before = int(counted.read_text())
                time.sleep(0.001)
                counted.write_text(str(before + 1))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(count) for _ in range(4)]:
            done.result()
    assert counted.read_text() == "20"


def test_lock_that_is_held_is_refused_without_waiting(tmp_path):
    path = tmp_path / "lock"
    with (
        exclusive_lock(path),
        pytest.raises(BlockingIOError),
        exclusive_lock(path, wait=False),
    ):
        pass
    with exclusive_lock(path, wait=False):
        pass


def test_file_without_hard_links_is_created_once(files, monkeypatch):
    def refuse(self, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("pathlib.Path.hardlink_to", refuse)
    assert files.create("a/b", b"1")
    assert not files.create("a/b", b"2")
    assert files.read("a/b") == b"1"
    assert files.names("a") == ["a/b"]
