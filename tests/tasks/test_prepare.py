import asyncio
import csv
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.grading.submission import grade_saved
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import (
    find_prepared,
    prepare_task,
    shuffled_truth,
    verify,
)
from mlagentbench.tasks.skeleton import write_skeleton

PREPARE = """
import sys
from pathlib import Path
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import prepare_task, verify
task = load_task("house-price")
print("ready", flush=True)
sys.exit(len(verify(prepare_task(task, Path(sys.argv[1])))))
"""


@pytest.fixture
def task():
    return load_task("house-price")


def everything(cache):
    return sorted(path for path in (cache / "prepared").glob("*"))


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_prepared_data_lies_under_a_name_that_says_what_decided_it(task, own_cache):
    prepared = prepare_task(task, own_cache)
    name = f"house-price@2-mini-{prepared.digest[:12]}"
    assert prepared.public == own_cache / "prepared" / name / "public"
    assert prepared.private == own_cache / "prepared" / name / "private"
    assert prepared.cache == own_cache
    assert verify(prepared) == []


def test_house_price_shows_prices_of_the_training_part_only(task, cache, archives):
    prepared = prepare_task(task, cache)
    data = prepared.public / "data"
    assert {path.name for path in data.iterdir()} == {
        "train.csv",
        "validation.csv",
        "test.csv",
        "data_description.md",
    }
    parts = [rows(data / f"{name}.csv") for name in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [760, 300, 400]
    assert ["SalePrice" in part[0] for part in parts] == [True, False, False]
    ids = [row["Id"] for part in parts for row in part]
    assert ids == [str(number) for number in range(1, 1461)]
    hidden = [
        row["Id"]
        for name in (task.validation.truth, task.truth)
        for row in rows(prepared.private / name)
    ]
    assert hidden == ids[760:]


def test_the_format_of_a_submission_is_checked_without_the_held_out_labels(
    task, own_cache
):
    prepared = prepare_task(task, own_cache)
    truth = rows(prepared.private / task.truth)
    (prepared.private / task.truth).unlink()
    shuffled = shuffled_truth(task, prepared)
    assert shuffled.parent.stat().st_mode & 0o777 == 0o700
    moved = rows(shuffled)
    assert [row["Id"] for row in moved] == [row["Id"] for row in truth]
    prices = [[int(row["SalePrice"]) for row in table] for table in (truth, moved)]
    assert sorted(prices[0]) == sorted(prices[1])
    assert sum(a == b for a, b in zip(*prices, strict=True)) < 10

    def refusal(answers):
        saved = own_cache / "saved"
        saved.mkdir(exist_ok=True)
        (saved / "submission.csv").write_text(answers)
        found = grade_saved(task, prepared, saved, split="visible")
        return asyncio.run(found).submission_error

    valid = "".join(f"{row['Id']},1\n" for row in truth)
    assert refusal(f"Id,SalePrice\n{valid}") is None
    assert "399 of 400 rows are missing" in refusal("Id,SalePrice\n1061,1\n")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o700), (0o002, 0o770)])
def test_truth_is_open_to_the_group_that_shares_a_cache(task, own_cache, umask, mode):
    before = os.umask(umask)
    try:
        prepared = prepare_task(task, own_cache)
    finally:
        os.umask(before)
    assert stat.S_IMODE(prepared.private.stat().st_mode) == mode


def test_public_files_are_read_only_and_equally_old(task, own_cache):
    public = prepare_task(task, own_cache).public
    assert len({path.stat().st_mtime for path in (public, *public.rglob("*"))}) == 1
    modes = {stat.S_IMODE(p.stat().st_mode) for p in public.rglob("*") if p.is_file()}
    assert modes == {0o444}


def test_the_second_time_touches_nothing(task, own_cache):
    first = prepare_task(task, own_cache)
    before = first.folder.stat()
    assert prepare_task(task, own_cache) == first == find_prepared(task, own_cache)
    assert first.folder.stat() == before


def test_nothing_is_found_before_it_is_prepared(task, tmp_path):
    assert find_prepared(task, tmp_path) is None
    assert not list(tmp_path.iterdir())


def replaced(path):
    path.unlink()
    path.write_text("Id\n")


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        (Path.unlink, "public/data/test.csv"),
        (replaced, "public/data/test.csv"),
        (Path.touch, "public/answers.csv"),
        (os.utime, "public/data/test.csv"),
        (replaced, "manifest.json"),
    ],
    ids=["deleted", "shortened", "added", "touched", "manifest"],
)
def test_spoiled_data_is_noticed_and_prepared_again(task, own_cache, spoil, name):
    prepared = prepare_task(task, own_cache)
    spoil(prepared.folder / name)
    assert verify(prepared)
    assert find_prepared(task, own_cache) is None
    assert prepare_task(task, own_cache) == prepared
    assert verify(prepared) == []


def test_changed_bytes_of_the_same_size_and_time_are_found_by_verify(task, own_cache):
    prepared = prepare_task(task, own_cache)
    path = prepared.public / "data" / "test.csv"
    known = path.stat()
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"1061", b"1O61"))
    os.utime(path, (known.st_atime, known.st_mtime))
    assert verify(prepared) == [
        "public/data/test.csv has other contents than were prepared"
    ]


def test_two_processes_at_once_end_with_one_correct_cache(own_cache):
    command = [sys.executable, "-c", PREPARE, str(own_cache)]
    both = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        for _ in range(3)
    ]
    assert [process.wait() for process in both] == [0, 0, 0]
    assert len([path for path in everything(own_cache) if path.name[0] != "."]) == 1


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_a_cache_that_works(task, own_cache):
    draw = random.Random(7)
    found_unfinished = 0
    for _ in range(12):
        shutil.rmtree(own_cache / "prepared", ignore_errors=True)
        command = [sys.executable, "-c", PREPARE, str(own_cache)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(draw.uniform(0, 0.04))
            process.send_signal(signal.SIGKILL)
        found_unfinished += find_prepared(task, own_cache) is None
        assert verify(prepare_task(task, own_cache)) == []
        assert not list((own_cache / "prepared").glob(".part-*"))
    assert found_unfinished


def test_what_a_killed_process_left_is_swept(task, own_cache):
    prepared = prepare_task(task, own_cache)
    shutil.rmtree(prepared.folder)
    left = own_cache / "prepared" / f".part-{prepared.folder.name}-dead"
    (left / "new" / "public").mkdir(parents=True)
    (left / "new" / "public" / "half").write_text("half")
    prepare_task(task, own_cache)
    assert not left.exists()


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_made(own_cache):
    def allow_small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-c", PREPARE, str(own_cache)],
        preexec_fn=allow_small_files_only,
        capture_output=True,
        text=True,
    )
    last = done.stderr.splitlines()[-1]
    assert "MachineError" in last
    assert "cannot be written: File too large" in last
    assert [path.suffix for path in everything(own_cache)] == [".lease"]


def test_a_cache_that_cannot_be_written_is_one_sentence(task, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be written") as raised:
        prepare_task(task, tmp_path / "file" / "cache")
    assert len(str(raised.value).splitlines()) == 1


def test_a_prepare_that_fails_is_the_tasks_fault_and_leaves_nothing(
    folder, edit, own_cache
):
    edit("prepare.py", "columns = list(sales[0])", 'columns = sales["columns"]')
    with pytest.raises(TaskError, match=r"prepare\.py: TypeError"):
        prepare_task(load_task(folder), own_cache)
    assert [path.suffix for path in everything(own_cache)] == [".lease"]


def test_a_changed_task_never_meets_old_data(folder, edit, own_cache, task):
    first = prepare_task(task, own_cache)
    edit("prepare.py", 'SALT = "house-price@1"', 'SALT = "another"')
    second = prepare_task(load_task(folder), own_cache)
    assert first.folder != second.folder
    one, other = (Path(p.public, "data", "test.csv") for p in (first, second))
    assert one.read_bytes() != other.read_bytes()


def test_a_changed_file_of_the_task_is_prepared_again(tmp_path):
    write_skeleton("rain", "tabular", tmp_path / "rain")
    first = prepare_task(load_task(tmp_path / "rain"), tmp_path / "cache")
    table = tmp_path / "rain/files/mixtures.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join([lines[0], *lines[2:]]))
    second = prepare_task(load_task(tmp_path / "rain"), tmp_path / "cache")
    one, other = (Path(p.public, "data", "test.csv") for p in (first, second))
    assert len(one.read_text().splitlines()) == 201
    assert len(other.read_text().splitlines()) == 200
