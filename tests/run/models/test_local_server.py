"""A server of ours: on loopback, with a key, and gone when it should be."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mlagentbench.core.errors import MachineError
from mlagentbench.run.models.local import Server, serving

HARNESS = """
import sys, time
from pathlib import Path
from mlagentbench.run.models.local import serving
server = serving(Path(sys.argv[1]), "small", 1)
print(server.url(), server.pid, flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def server(weights):
    started = Server(weights, "small", 1)
    yield started
    started.stop()


def ask(server, **headers):
    body = {
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 8,
        "temperature": 0,
    }
    request = urllib.request.Request(
        f"{server.url()}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"} | headers,
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=300) as answer:
        return json.load(answer)


def harness(weights, seconds):
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(weights), str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def gone(pid, seconds=10):
    end = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def test_server_answers_on_loopback_only_with_the_key(server, capfd):
    answer = ask(server, Authorization=f"Bearer {server.key}")
    assert answer["choices"][0]["message"]["content"]
    assert answer["usage"]["completion_tokens"] == 8
    assert server.url().startswith("http://127.0.0.1:")
    for headers in ({}, {"Authorization": "Bearer guess"}):
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            ask(server, **headers)
        refused.value.close()
    assert capfd.readouterr() == ("", "")


def test_key_is_not_in_command_line_or_environment(server):
    server.url()
    assert server.key.encode() not in Path(f"/proc/{server.pid}/cmdline").read_bytes()
    assert server.key.encode() not in Path(f"/proc/{server.pid}/environ").read_bytes()


def test_server_dies_with_a_killed_harness(weights):
    with harness(weights, 60) as process:
        _, pid = process.stdout.readline().split()
        assert Path(f"/proc/{pid}").exists()
        process.kill()
    assert gone(pid)


@pytest.mark.slow
def test_server_ends_with_the_harness(weights):
    with harness(weights, 0) as process:
        said, complained = process.communicate(timeout=300)
    assert gone(said.split()[1])
    assert complained == ""


def test_process_shares_one_server_and_replaces_a_lost_one(weights):
    first = serving(weights, "small", 1)
    assert serving(weights, "small", 1) is first
    first.url()
    first.stop()
    second = serving(weights, "small", 1)
    try:
        assert second is not first
        assert second.url() != ""
    finally:
        second.stop()
    assert gone(first.pid)
    assert gone(second.pid)


def test_file_that_is_not_a_model_fails_with_one_sentence(tmp_path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF no more")
    broken = Server(path, "broken", 1)
    with pytest.raises(MachineError, match="broken cannot be served: ") as raised:
        broken.url()
    assert len(str(raised.value).splitlines()) == 1
    assert not broken.alive
