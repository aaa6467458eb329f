"""The final code of a run."""

import pytest
from tests.support.records import step

from mlagentbench.core.trace import Trace
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache
from mlagentbench.experiment.final_code import (
    read_final_code,
    read_new_scripts,
    starter_texts,
)
from mlagentbench.tasks.load import load_task

STARTER = {"train.py": "a = 1\n"}


@pytest.fixture
def left(tmp_path):
    """Take a snapshot of files and read the code back from it."""

    def read(files, *, submitted=(), function=read_final_code):
        workspace, submission = tmp_path / "workspace", tmp_path / "submission"
        for folder, contents in ((workspace, files), (submission, dict(submitted))):
            folder.mkdir(exist_ok=True)
            for name, content in contents.items():
                raw = content if isinstance(content, bytes) else content.encode()
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(raw)
        (workspace / "link.py").symlink_to("/etc/passwd")
        (submission / "link.py").symlink_to("/etc/passwd")
        store = SnapshotStore(tmp_path / "snapshots")
        taken = store.take(workspace, previous=StatCache()).id if files else None
        trace = Trace(run="r", steps=(step(snapshot=taken),))
        return function(tmp_path / "snapshots", submission, trace, STARTER)

    return read


@pytest.fixture
def scripts(left):
    def read(files, **more):
        return left(files, function=read_new_scripts, **more)

    return read


def test_code_is_read_and_everything_else_is_only_named(left):
    found = left({"train.py": "a = 2\n", "sub/new.py": "b", "submission.csv": "1,2"})
    assert found.texts == {"sub/new.py": "b", "train.py": "a = 2\n"}
    assert "submission.csv (3 bytes)" in found.others
    assert found.whole


def test_binary_and_long_files_are_only_named(left):
    binary = {"bytes.py": b"\xff\xfe", "nul.py": "a\0b"}
    found = left(binary | {"long.py": "x" * 300_000, "ok.py": ""})
    assert set(found.texts) == {"ok.py"}
    named = {name.partition(" ")[0] for name in found.others}
    assert named >= {"bytes.py", "nul.py", "long.py"}


def test_a_name_that_is_not_text_is_escaped(left):
    found = left({"a\udcff\n.py": "x", "train.py": "y"})
    assert found.texts == {"a\\udcff\\n.py": "x", "train.py": "y"}


def test_backups_are_not_part_of_the_code(left):
    found = left({"backup/train.py/000001": "old", "backup/x.py": "x", "t.py": "y"})
    assert set(found.texts) == {"t.py"}
    assert not any("backup" in name for name in found.others)


def test_without_a_snapshot_the_submission_is_read(left):
    found = left({}, submitted={"layer.py": "x", "answers.csv": "1"})
    assert found.texts == {"layer.py": "x"}
    assert found.others == ("answers.csv (1 bytes)",)
    assert not found.whole
    assert "what was submitted is compared" in found.note


def test_without_snapshot_and_submission_a_note_says_so(tmp_path):
    found = read_final_code(tmp_path / "no", tmp_path / "none", Trace(run="r"), STARTER)
    assert found.texts == {}
    assert "there is no code to compare" in found.note
    assert not (tmp_path / "no").exists()


def test_a_missing_snapshot_is_noted_and_the_submission_is_read(left, tmp_path):
    store = tmp_path / "snapshots" / "manifests"
    store.mkdir(parents=True)
    trace = Trace(run="r", steps=(step(snapshot="0" * 64),))
    found = read_final_code(tmp_path / "snapshots", tmp_path / "none", trace, STARTER)
    assert "there is no snapshot 000000000000" in found.note


def test_a_damaged_file_is_noted_and_reading_writes_nothing(left, tmp_path):
    left({"train.py": "a = 2\n"}, submitted={"layer.py": "x"})
    store = tmp_path / "snapshots"
    (saved,) = (path for path in store.glob("objects/*/*") if path.is_file())
    saved.chmod(0o644)
    saved.write_text("a = 3\n")
    (store / "lock").unlink()
    before = sorted(store.rglob("*"))
    (manifest,) = store.glob("manifests/*.json")
    trace = Trace(run="r", steps=(step(snapshot=manifest.stem),))
    found = read_final_code(store, tmp_path / "submission", trace, STARTER)
    assert found.texts == {"layer.py": "x"}
    assert "train.py is damaged" in found.note
    assert sorted(store.rglob("*")) == before


def test_the_starter_is_read_as_it_is_in_the_task_folder():
    task = load_task("house-price")
    texts = starter_texts(task)
    assert texts == {"train.py": (task.folder / "starter/train.py").read_text()}


def test_scripts_are_read_to_their_end_without_lines_of_the_starter(scripts):
    long = "x" * 300_000 + "\nb = 2"
    files = {"train.py": "a = 1\nb = 2", "long.py": long, "run.sh": "ls", "a.csv": "1"}
    assert scripts(files) == {"train.py": "#\nb = 2", "long.py": long, "run.sh": "ls"}


def test_neither_an_encoding_nor_a_backup_hides_a_script(scripts):
    found = scripts({"a.py": b"# \xff\nimport x\0", "backup/b.py": "b"})
    assert found == {"a.py": "# \ufffd\nimport x\0", "backup/b.py": "b"}


def test_a_script_too_long_to_be_read_is_named(scripts):
    found = scripts({"huge.py": "x" * 20_000_001, "small.py": "y"})
    assert found == {"huge.py": None, "small.py": "y"}


def test_a_script_with_two_names_is_not_kept_and_is_named(tmp_path, scripts):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "one.py").write_text("x")
    (tmp_path / "workspace" / "two.py").hardlink_to(tmp_path / "one.py")
    assert scripts({"a.py": "y"}) == {"a.py": "y", "two.py": None}


def test_without_a_snapshot_the_scripts_of_the_submission_are_read(scripts):
    submitted = {"layer.py": "a = 1\nx", "answers.csv": "1"}
    assert scripts({}, submitted=submitted) == {"layer.py": "#\nx"}


def test_a_damaged_script_is_left_out(scripts, tmp_path):
    scripts({"train.py": "a = 2\n"})
    store = tmp_path / "snapshots"
    (saved,) = (path for path in store.glob("objects/*/*") if path.is_file())
    saved.chmod(0o644)
    saved.write_text("a = 3\n")
    (manifest,) = store.glob("manifests/*.json")
    trace = Trace(run="r", steps=(step(snapshot=manifest.stem),))
    assert read_new_scripts(store, tmp_path / "submission", trace, STARTER) == {}
