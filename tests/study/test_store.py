"""A store publishes a cell once, completely or not at all."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mlagentbench.core import MachineError, RecordError, UsageError, take_lease
from mlagentbench.study.store import FolderStore, open_store

CELL = "house-price-tuner-0-0123456789ab"


@pytest.fixture
def store(address):
    return open_store(address)


def make_bundle(folder, text="1", files=3):
    (folder / "trace").mkdir(parents=True)
    (folder / "cell.json").write_text(f'{{"text": "{text}"}}')
    (folder / "scorecards.jsonl").write_text(f"{text}\n")
    for number in range(files):
        (folder / "trace" / f"{number}.jsonl").write_text(text)
    return folder


def contents(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def test_files_are_created_once_replaced_listed_and_deleted(store):
    assert store.read("plans/a.json") is None
    assert store.names("plans/") == []
    assert store.create("plans/a.json", b"1")
    assert not store.create("plans/a.json", b"2")
    assert store.read("plans/a.json") == b"1"
    store.replace("plans/a.json", b"3")
    store.replace("plans/b/c.json", b"4")
    assert store.read("plans/a.json") == b"3"
    assert store.names("plans/") == ["plans/a.json", "plans/b/c.json"]
    assert store.names("plans/a") == ["plans/a.json"]
    assert store.names("plans/a.json/") == []
    store.delete("plans/a.json")
    store.delete("plans/a.json")
    assert store.names("") == ["plans/b/c.json"]
    store.replace("plans/bb.json", b"5")
    store.delete("plans/b/")
    store.delete("plans/b/")
    assert store.names("") == ["plans/bb.json"]


def test_files_with_unusual_names_are_copied_in_and_out(store, tmp_path):
    names = ["a [1]*?.txt", "deep/er/b%2F+c.txt", "ü.txt", ".hidden"]
    for name in names:
        path = tmp_path / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    store.copy_in(tmp_path / "from", "work/a/progress/", names)
    assert sorted(store.copy_out("work/a/progress/", tmp_path / "to")) == sorted(names)
    assert contents(tmp_path / "to") == {name: name for name in names}
    assert store.copy_out("work/b/progress/", tmp_path / "to") == []


def test_lease_in_a_store_has_one_holder(store):
    lease = take_lease(store, f"work/{CELL}/")
    assert take_lease(store, f"work/{CELL}/") is None
    assert lease.renew()
    lease.release()
    assert take_lease(store, f"work/{CELL}/").number == 2
    assert store.names("work/") == [f"work/{CELL}/lease-2.json"]
    assert not lease.renew()


def test_cell_is_published_once_of_many_attempts(address, tmp_path):
    bundles = [make_bundle(tmp_path / str(n), text=str(n)) for n in range(4)]

    def publish(bundle):
        return open_store(address).publish(CELL, bundle)

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(publish, bundles))
    assert won.count(True) == 1
    store = open_store(address)
    assert store.published() == {CELL}
    assert contents(store.open_experiment(CELL)) == contents(bundles[won.index(True)])
    assert not store.publish(CELL, bundles[0])
    ((cell, summary),) = store.summaries(["other", CELL])
    assert (cell, summary.scorecards) == (CELL, f"{won.index(True)}\n")


PUBLISHER = """
import os, signal, sys
from pathlib import Path
from mlagentbench.study.store import open_store
address, cell, bundle = sys.argv[1:]
opened = 0
def die_late(event, arguments):
    global opened
    if event == "open" and str(arguments[0]).startswith(f"{bundle}/trace/"):
        opened += 1
        if opened == 35:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(die_late)
open_store(address).publish(cell, Path(bundle))
"""


def test_publisher_killed_in_the_middle_publishes_nothing(store, tmp_path):
    bundle = make_bundle(tmp_path / "bundle", files=40)
    killed = subprocess.run(
        [sys.executable, "-c", PUBLISHER, store.address, CELL, str(bundle)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert store.names("") != []
    assert store.published() == set()
    assert not store.is_published(CELL)
    with pytest.raises(RecordError, match="not published"):
        store.open_experiment(CELL)
    assert store.publish(CELL, bundle)
    store.delete(f"work/{CELL}/")
    assert contents(store.open_experiment(CELL)) == contents(bundle)
    # Nothing else is left: as many files, and an object store's marker.
    assert len(store.names("")) - len(contents(bundle)) in (0, 1)


def test_cell_that_is_set_aside_can_be_published_again(store, tmp_path):
    for text in ("first", "second", "third"):
        assert store.publish(CELL, make_bundle(tmp_path / text, text=text))
        assert contents(store.open_experiment(CELL)) == contents(tmp_path / text)
        if text != "third":
            store.set_aside(CELL)
            assert store.published() == set()
    replaced = {name.split("/")[1].split(".json")[0] for name in store.names("rep")}
    assert replaced == {f"{CELL}-1", f"{CELL}-2"}
    kept = store.names("bundles/") + store.names("replaced/")
    assert sum(name.endswith("trace/0.jsonl") for name in kept) >= 2


def test_deleted_folder_takes_an_unpublished_bundle_with_it(tmp_path):
    """A process that lost its lease must not publish half a bundle."""
    store = FolderStore(tmp_path / "store")
    bundle = make_bundle(tmp_path / "bundle", files=5)

    def delete_late(event, arguments):
        if event == "os.rename" and "bundle-" in str(arguments[0]):
            active and active.pop() and store.delete(f"work/{CELL}/")

    active = [True]
    sys.addaudithook(delete_late)
    with pytest.raises(RecordError):
        store.publish(CELL, bundle)
    assert store.published() == set()
    assert store.names("") == []


def test_links_and_names_that_leave_a_folder_are_not_followed(tmp_path, s3):
    (tmp_path / "secret").write_text("secret")
    folder = FolderStore(tmp_path / "store")
    folder.replace("work/a/progress/file", b"1")
    (tmp_path / "store" / "work" / "a" / "progress" / "link").symlink_to(
        tmp_path / "secret"
    )
    assert folder.copy_out("work/a/progress/", tmp_path / "out") == ["file"]
    objects = open_store(s3)
    objects.replace("work/a/progress/../../../../x", b"1")
    with pytest.raises(RecordError, match="not a name"):
        objects.copy_out("work/a/progress/", tmp_path / "out")
    objects.replace("cells/../x.json", b"1")
    assert objects.published() == set()


class Overwriting(BaseHTTPRequestHandler):
    """An object store that ignores conditions, as some do."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("ETag", '"0"')
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_object_store_that_overwrites_is_refused(s3, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Overwriting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(MachineError, match="If-None-Match"):
            open_store(s3).create("study.json", b"1")
        server.shutdown()


def test_missing_bucket_and_unknown_kinds_of_store_are_named(s3, tmp_path):
    missing = s3.replace("study-", "other-")
    with pytest.raises(RecordError, match=missing):
        open_store(missing).create("study.json", b"1")
    with pytest.raises(UsageError, match="gs://"):
        open_store("gs://bucket/study")
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="file"):
        open_store(str(tmp_path / "file" / "study")).create("study.json", b"1")


def test_store_of_two_users_is_writable_for_their_group(tmp_path):
    before = os.umask(0o002)
    try:
        store = FolderStore(tmp_path / "store")
        take_lease(store, f"work/{CELL}/")
    finally:
        os.umask(before)
    assert (tmp_path / "store/work" / CELL).stat().st_mode & 0o777 == 0o775
    (lease,) = (tmp_path / "store/work" / CELL).iterdir()
    assert lease.stat().st_mode & 0o777 == 0o664
